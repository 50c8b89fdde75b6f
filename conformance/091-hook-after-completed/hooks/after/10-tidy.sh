[ -e worked ] && echo "$ABIDE_RESULT" >result
