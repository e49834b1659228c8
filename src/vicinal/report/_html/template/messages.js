// In the widget of a notebook, the page tells which rows are selected and how clusters are named, and selects
// the rows that Python sets. Elsewhere it sends and accepts nothing.

function tell() {
  if (!data.inWidget) return;
  parent.postMessage({ vicinal: "selection", rows: state.selected ? rowsOf(state.selected) : [], names: givenNames() }, "*");
}

function listen() {
  if (!data.inWidget) return;
  addEventListener("message", (event) => {
    const rows = event.source === parent && event.data && event.data.vicinalRows;
    if (!Array.isArray(rows)) return;
    try {
      setSelection(maskOf(checkedRows(rows)));
    } catch (error) {
      say(`The rows could not be selected: ${error.message}.`);
    }
  });
  parent.postMessage({ vicinal: "ready" }, "*");
}
