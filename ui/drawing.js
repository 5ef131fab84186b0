// The pad's cells are whole numbers from 0 (paper) to `levels` (ink), row by row. What the visitor
// is doing is kept on the element, because each stroke that is sent runs this function anew.
const PIXELS = 28;
const HELP = "Draw with mouse or finger; or move with the arrow keys and ink with Space.";

export default function ({ parentElement, data, setStateValue }) {
  const canvas = parentElement.querySelector("canvas");
  const clear = parentElement.querySelector("button");
  const told = parentElement.querySelector(".told");
  const { size, levels, label } = data;
  let pad = parentElement.liveproofPad;
  if (!pad || pad.cells.length !== size * size) {
    const given = Array.isArray(data.cells) && data.cells.length === size * size;
    pad = { cells: given ? data.cells.slice() : new Array(size * size).fill(0), cursor: null, at: null };
    parentElement.liveproofPad = pad;
    canvas.width = canvas.height = size * PIXELS;
  }
  canvas.setAttribute("aria-label", label);

  function paint() {
    const brush = canvas.getContext("2d");
    pad.cells.forEach((value, i) => {
      const shade = Math.round(255 * (1 - value / levels));
      brush.fillStyle = `rgb(${shade},${shade},${shade})`;
      brush.fillRect((i % size) * PIXELS, Math.floor(i / size) * PIXELS, PIXELS, PIXELS);
    });
    if (pad.cursor !== null) {
      brush.strokeStyle = "#d9480f";
      brush.lineWidth = 3;
      const x = (pad.cursor % size) * PIXELS;
      const y = Math.floor(pad.cursor / size) * PIXELS;
      brush.strokeRect(x + 2, y + 2, PIXELS - 4, PIXELS - 4);
    }
  }

  function tell() {
    const inked = pad.cells.filter((value) => value > 0).length;
    const place = pad.cursor === null ? "" :
      `Row ${Math.floor(pad.cursor / size) + 1}, column ${(pad.cursor % size) + 1}: ` +
      `darkness ${pad.cells[pad.cursor]} of ${levels}. `;
    const ink = `${inked} of ${size * size} cells have ink.`;
    told.textContent = inked || place ? place + ink : HELP;
  }

  function send() {
    setStateValue("cells", pad.cells.slice());
    tell();
  }

  // A fast stroke arrives as few points: the cells on the way between two of them get ink too.
  function ink(event) {
    const box = canvas.getBoundingClientRect();
    const to = [
      ((event.clientX - box.left) / box.width) * size,
      ((event.clientY - box.top) / box.height) * size,
    ];
    const from = pad.at ?? to;
    const hops = Math.max(1, Math.ceil(2 * Math.hypot(to[0] - from[0], to[1] - from[1])));
    for (let hop = 0; hop <= hops; hop++) {
      const column = Math.floor(from[0] + ((to[0] - from[0]) * hop) / hops);
      const row = Math.floor(from[1] + ((to[1] - from[1]) * hop) / hops);
      if (column >= 0 && row >= 0 && column < size && row < size) {
        pad.cells[row * size + column] = levels;
      }
    }
    pad.at = to;
    paint();
  }

  canvas.onpointerdown = (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pad.cursor = pad.at = null;
    ink(event);
  };
  canvas.onpointermove = (event) => pad.at && ink(event);
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (pad.at) send();
    pad.at = null;
  };
  canvas.onkeydown = (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in moves) {
      if (pad.cursor === null) {
        pad.cursor = 0;
      } else {
        const column = (pad.cursor % size) + moves[event.key][0];
        const row = Math.floor(pad.cursor / size) + moves[event.key][1];
        if (column >= 0 && row >= 0 && column < size && row < size) pad.cursor = row * size + column;
      }
      tell();
    } else if (event.key === " ") {
      pad.cursor ??= 0;
      pad.cells[pad.cursor] = (pad.cells[pad.cursor] + 1) % (levels + 1);
      send();
    } else return;
    event.preventDefault();
    paint();
  };
  canvas.onblur = () => {
    pad.cursor = null;
    tell();
    paint();
  };
  clear.onclick = () => {
    pad.cells.fill(0);
    send();
    paint();
  };
  tell();
  paint();
}
