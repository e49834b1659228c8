// Widget of a notebook: the page in a frame that cannot reach the notebook, except by messages with the
// selected rows and the names of clusters.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = model.get("label");
  frame.style.cssText = "width:100%;height:820px;border:1px solid #8884;border-radius:8px";
  let shown = "[]";
  const sendRows = () => frame.contentWindow.postMessage({ vicinalRows: model.get("rows") }, "*");
  const receive = (event) => {
    if (event.source !== frame.contentWindow || !event.data || !event.data.vicinal) return;
    if (event.data.vicinal === "ready") {
      if (model.get("rows").length) sendRows();
      return;
    }
    shown = JSON.stringify(event.data.rows);
    model.set("rows", event.data.rows);
    model.set("names", event.data.names);
    model.save_changes();
  };
  // Rows that the page itself selected are not sent back to it.
  const onRows = () => JSON.stringify(model.get("rows")) !== shown && sendRows();
  addEventListener("message", receive);
  model.on("change:rows", onRows);
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => {
    removeEventListener("message", receive);
    model.off("change:rows", onRows);
  };
}

export default { render };
