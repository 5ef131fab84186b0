// Draws the figures of an exported report in the reader's light or dark mode.
"use strict";
const looks = JSON.parse(document.getElementById("looks").textContent);
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)).join(",");

// Exchanges every colour of one look for the same place in the other.
function exchange(value, from, to) {
  if (Array.isArray(value)) return value.map((item) => exchange(item, from, to));
  if (value && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, exchange(item, from, to)]));
  }
  if (typeof value !== "string" || value.length > 40) return value;
  let place = from.findIndex((hex) => hex.toLowerCase() === value.toLowerCase());
  if (place >= 0) return to[place];
  const parts = /^rgba?\((\d+), *(\d+), *(\d+)(.*)/.exec(value);
  place = parts ? from.findIndex((hex) => rgb(hex) === parts.slice(1, 4).join(",")) : -1;
  return place < 0 ? value : value.replace(/\d+, *\d+, *\d+/, rgb(to[place]));
}

function draw(mode) {
  const colours = looks[mode];
  const ink = colours[colours.length - 2];
  const line = colours[colours.length - 1];
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true };
  const template = { layout: {
    colorway: colours.slice(0, -2), font: { family: getComputedStyle(document.body).fontFamily,
    color: ink }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 60, r: 20, t: 30, b: 50 }, xaxis: axis, yaxis: axis } };
  for (const place of document.querySelectorAll(".plot")) {
    const spec = JSON.parse(place.nextElementSibling.textContent);
    const { data, layout } = exchange(spec, looks[place.dataset.drawnIn], colours);
    if (!place.classList.contains("js-plotly-plot")) place.textContent = "";
    Plotly.react(place, data, { ...layout, template, autosize: true },
      { responsive: true, displaylogo: false });
  }
}

const current = () => (prefersDark.matches ? "dark" : "light");
draw(current());
prefersDark.addEventListener("change", () => draw(current()));
addEventListener("beforeprint", () => draw("light"));
addEventListener("afterprint", () => draw(current()));
