// Mouse, touch and keyboard on the map: pan, zoom, identify, and draw a box or a lasso.

function followPointers() {
  const stage = byId("scatter");
  const pointers = new Map();
  let distanceMoved = 0;
  let outline = null;
  const local = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".zoom")) return;
    pointers.set(event.pointerId, local(event));
    distanceMoved = 0;
    outline = state.tool === "pan" || pointers.size > 1 ? null : [local(event)];
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const now = local(event);
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") showTip(scatter.pick(...now), ...now);
      return;
    }
    const before = pointers.get(event.pointerId);
    pointers.set(event.pointerId, now);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    distanceMoved += Math.hypot(dx, dy);
    if (outline && pointers.size === 1) {
      outline = state.tool === "box" ? [outline[0], now] : [...outline, now];
      scatter.setOutline(closed(outline));
      showTip(-1);
    } else if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, position]) => position);
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      scatter.zoomAt(span(now) / span(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (distanceMoved > 4) {
      scatter.pan(dx, dy);
      showTip(-1);
    }
  });
  const onRelease = (event) => {
    const wasDown = pointers.delete(event.pointerId);
    const drawn = outline;
    outline = null;
    scatter.setOutline(null);
    if (!wasDown || event.type !== "pointerup") return;
    if (drawn && drawn.length > 1 && distanceMoved > 4) return selectInside(closed(drawn), event.shiftKey);
    if (distanceMoved > 4) return;
    const row = scatter.pick(...local(event));
    if (row >= 0) selectRow(row);
  };
  stage.addEventListener("pointerup", onRelease);
  stage.addEventListener("pointercancel", onRelease);
  stage.addEventListener("pointerleave", () => showTip(-1));
  stage.addEventListener("wheel", (event) => {
    // A plain wheel scrolls the page.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scatter.zoomAt(Math.exp(-event.deltaY * 0.003), ...local(event));
  }, { passive: false });
  stage.addEventListener("dblclick", (event) => scatter.zoomAt(2, ...local(event)));
  stage.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (event.key in steps) scatter.pan(...steps[event.key]);
    else if (event.key === "+") scatter.zoomAt(1.5);
    else if (event.key === "-") scatter.zoomAt(1 / 1.5);
    else if (event.key === "0") scatter.showAll();
    else if (event.key === "Enter") selectNearCentre();
    else if (event.key === "s") selectView();
    else if (event.key === "i") invertSelection();
    else if (event.key === "Escape") setSelection(null);
    else return;
    event.preventDefault();
  });
}

// The polygon of an outline: a box between two corners, or the lasso itself.
function closed(outline) {
  return state.tool === "box" ? boxAround(outline[0], outline.at(-1)) : outline;
}

function selectNearCentre() {
  const row = scatter.pick(scatter.width / 2, scatter.height / 2, Math.max(scatter.width, scatter.height));
  if (row >= 0) selectRow(row);
}
