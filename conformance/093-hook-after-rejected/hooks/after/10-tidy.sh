echo "$ABIDE_RESULT" >result
