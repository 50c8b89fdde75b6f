sleep 0.05; echo "$ABIDE_RESULT" >result
