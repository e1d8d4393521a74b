"""ROS 2 robots through rosbridge_suite 2.x: JSON over a WebSocket, no ROS on this side."""
