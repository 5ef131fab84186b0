"""Choice of columns, and the upload as it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ui.tables import UploadError, read_table
from ui.upload import Column, assign, guess_columns, plain

pytestmark = pytest.mark.unit
LABEL = Column("label", "Label", "", True, ("y", "truth"), "number", blank_ok=True)
PREDICTION = Column("prediction", "Prediction", "", True, ("yhat", "pred"), "number")
GROUP = Column("group", "Group", "", False, ("segment",), "text")
COLUMNS = (LABEL, PREDICTION, GROUP)


def test_columns_are_guessed_by_name_only() -> None:
    assert guess_columns(COLUMNS, ["id", "y_hat", "Y", "Segment"]) == {
        "label": "Y",
        "prediction": "y_hat",
        "group": "Segment",
    }
    assert guess_columns(COLUMNS, ["a", "b"]) == dict.fromkeys(("label", "prediction", "group"))


def test_the_role_comes_before_its_guesses_and_none_is_proposed_twice() -> None:
    assert guess_columns(COLUMNS, ["y", "label"])["label"] == "label"
    both = (LABEL, Column("other", "Other", "", True, ("y",), "number"))
    assert guess_columns(both, ["y"]) == {"label": "y", "other": None}


def test_columns_are_converted_by_kind() -> None:
    table = read_table(b"y,p,g,h\n1,2,u,\n,4,v,\n", "x.csv")
    mapped = assign(table, COLUMNS, {"label": "y", "prediction": "p", "group": "g"})
    np.testing.assert_array_equal(mapped.values["label"].values, [1.0, np.nan])
    assert mapped.values["label"].blank == 1
    assert mapped.values["prediction"].values.tolist() == [2.0, 4.0]
    assert mapped.texts["group"].tolist() == ["u", "v"]
    assert mapped.table is table
    assert not assign(table, COLUMNS, {"label": "y", "prediction": "p", "group": None}).texts


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"label": "y"}, r'No column is chosen for "Prediction"; the file has y, p\.'),
        ({"label": "y", "prediction": "y"}, r'"y" is chosen both for "Label" and for "Prediction"'),
        ({"label": "y", "prediction": "p"}, r'"1,000" in row 3, .*switch on cleaning'),
        ({"label": "gone", "prediction": "p"}, r'no column "gone"'),
    ],
)
def test_what_is_wrong_with_a_choice_is_said(chosen: dict[str, str], sentence: str) -> None:
    table = read_table(b'y,p\n1,2\n3,"1,000"\n', "x.csv")
    with pytest.raises(UploadError, match=sentence):
        assign(table, COLUMNS, chosen)


def test_a_files_decimal_mark_is_used() -> None:
    table = read_table(b"y;p\n1,5;2,25\n", "x.csv")
    mapped = assign(table, COLUMNS, {"label": "y", "prediction": "p"})
    assert mapped.values["prediction"].values.tolist() == [2.25]


def test_markdown_in_a_file_stays_text() -> None:
    assert plain("![x](http://y) $a$ :red[z] *b* `c`") == (
        r"!\[x\](http://y) \$a\$ \:red\[z\] \*b\* \`c\`"
    )
    assert plain('Column "x" holds "1,5" in row 3.') == 'Column "x" holds "1,5" in row 3.'


# --- drawn ----------------------------------------------------------------------------------


def page() -> None:
    import pandas as pd
    import streamlit as st

    from ui.upload import Column, upload_table

    if st.toggle("Other page", key="away"):
        st.stop()
    mapped = upload_table(
        "demo",
        (
            Column("label", "Label", "What was measured.", True, ("y",), "number", blank_ok=True),
            Column("prediction", "Prediction", "What was foretold.", True, ("p",), "number"),
        ),
        template=pd.DataFrame({"y": [1.0, None], "p": [1.1, 2.2]}),
        sample=("sample.csv", b"y,p\n1,2\n,4\n"),
    )
    if mapped is not None:
        st.code(str({name: c.values.tolist() for name, c in mapped.values.items()}))


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(page).run()


def upload(app: AppTest, data: bytes, name: str = "mine.csv") -> Any:
    return app.file_uploader(key="demo_upload").upload(name, data).run()


def test_nothing_is_returned_before_a_table_is_there(app: AppTest) -> None:
    assert not app.exception
    assert not app.code
    assert not app.error


def test_sample_can_be_tried_and_removed(app: AppTest) -> None:
    app.button(key="demo_upload_try").click().run()
    assert app.code[0].value == "{'label': [1.0, nan], 'prediction': [2.0, 4.0]}"
    app.button(key="demo_upload_remove").click().run()
    assert not app.code
    assert not app.exception


def test_table_and_choice_outlive_a_change_of_page(app: AppTest) -> None:
    app.button(key="demo_upload_try").click().run()
    app.selectbox(key="demo_map_label").set_value("p")
    app.selectbox(key="demo_map_prediction").set_value("p").run()
    assert 'chosen both for "Label" and for "Prediction"' in app.error[0].value
    app.selectbox(key="demo_map_label").set_value("y").run()
    app.selectbox(key="demo_map_prediction").set_value("y").run()
    app.selectbox(key="demo_map_label").set_value("p").run()
    assert "is blank in row 3" in app.error[0].value
    app.toggle(key="away").set_value(True).run()
    assert not app.selectbox
    app.toggle(key="away").set_value(False).run()
    assert app.selectbox(key="demo_map_label").value == "p"
    assert app.selectbox(key="demo_map_prediction").value == "y"


def test_upload_is_parsed_once(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(app, b"y,p\n5,6\n")
    assert app.code[0].value == "{'label': [5.0], 'prediction': [6.0]}"
    monkeypatch.setattr("ui.upload.read_table", None)
    monkeypatch.setattr("ui.upload.assign", None)
    app.run()
    assert app.code[0].value == "{'label': [5.0], 'prediction': [6.0]}"
    assert not app.exception


def test_a_bad_file_gives_one_sentence_and_drops_the_table_before_it(app: AppTest) -> None:
    app.button(key="demo_upload_try").click().run()
    upload(app, b"y,p\n1,2\n3\n")
    assert [error.value for error in app.error] == [
        "Row 3 has 1 cell, but the header has 2; make all rows equally long, and quote cells that "
        "hold commas."
    ]
    assert not app.code
    assert not app.exception


def test_a_new_file_gets_new_guesses(app: AppTest) -> None:
    upload(app, b"y,p\n5,6\n")
    upload(app, b"label,prediction,y\n7,8,9\n", "next.csv")
    assert app.code[0].value == "{'label': [7.0], 'prediction': [8.0]}"


def test_cleaning_is_offered_only_where_it_helps(app: AppTest) -> None:
    upload(app, b"y,p\n1,2\n3,x\n")
    assert [toggle.key for toggle in app.toggle] == ["away"]
    assert '"x" in row 3' in app.error[0].value
    upload(app, b'y,p\n1,2\n3,"1,000"\n', "next.csv")
    assert '"1,000" in row 3' in app.error[0].value
    app.toggle(key="demo_upload_clean").set_value(True).run()
    assert not app.error
    assert app.code[0].value == "{'label': [1.0, 3.0], 'prediction': [2.0, 1000.0]}"
    assert any("1 cell cleaned" in caption.value for caption in app.caption)
