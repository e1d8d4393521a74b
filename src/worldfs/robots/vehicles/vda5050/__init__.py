"""VDA 5050 2.x: orders to a mobile robot and its states, over MQTT."""
