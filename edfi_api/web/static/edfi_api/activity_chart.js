// Draws the writes per hour and vendor: accepted as lines, refused as dashed lines of the same colour.
"use strict";

(function () {
    const data = document.getElementById("writes-data");
    const place = document.getElementById("writes-chart");
    if (!data || !place || typeof uPlot === "undefined") return;
    const writes = JSON.parse(data.textContent);
    const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"];
    // Read at each drawing, since the theme of the page can be changed.
    const textColour = () => getComputedStyle(document.body).color;
    const line = (label, colour, dash) => ({label: label, stroke: colour, width: 2, dash: dash, points: {show: false}});
    const axis = {stroke: textColour, grid: {stroke: "rgba(128, 128, 128, 0.2)"}, ticks: {show: false}};
    const series = [{label: "Hour"}];
    const values = [writes.hours];
    writes.vendors.forEach((vendor, index) => {
        const colour = colours[index % colours.length];
        series.push(line(vendor.vendor + ", accepted", colour), line(vendor.vendor + ", refused", colour, [4, 4]));
        values.push(vendor.accepted, vendor.refused);
    });
    const size = () => ({width: place.clientWidth, height: 260});
    // Beside the names are the numbers of the hour under the pointer; of the last one, if there is none.
    const fillLegend = (chart) => {
        if (chart.cursor.idx == null) chart.setLegend({idx: writes.hours.length - 1});
    };
    const options = Object.assign(size(), {
        series: series,
        axes: [axis, Object.assign({size: 60}, axis)],
        hooks: {ready: [fillLegend], setCursor: [fillLegend]},
        scales: {y: {range: (_, low, high) => [0, Math.max(high, 1)]}},
    });
    const chart = new uPlot(options, values, place);
    window.addEventListener("resize", () => chart.setSize(size()));
    const redraw = () => chart.redraw(false, true);
    new MutationObserver(redraw).observe(document.documentElement, {attributeFilter: ["data-theme"]});
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
