// A vehicle of others: the virtual one of the published library vda-5050-lib, on the broker at 127.0.0.1:PORT.
const path = require("path");
const { AgvController, VirtualAgvAdapter } = require(path.join(process.argv[3], "vda-5050-lib"));

const vehicle = new AgvController(
  { manufacturer: "acme", serialNumber: "amr-7" },
  { interfaceName: "uagv", transport: { brokerUrl: `mqtt://127.0.0.1:${process.argv[2]}` }, vdaVersion: "2.0.0" },
  { agvAdapterType: VirtualAgvAdapter },
  { initialPosition: { mapId: "hall", x: 0, y: 0, theta: 0, lastNodeId: "" }, vehicleSpeed: 2 },
);
vehicle.start().then(() => console.log("up"));
