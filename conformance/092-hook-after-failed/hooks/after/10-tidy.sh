echo "$ABIDE_RESULT: $ABIDE_ERROR" >result
