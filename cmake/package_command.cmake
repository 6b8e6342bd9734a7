# Read by CPack when the .deb's files lie in a folder of their own: /usr has the command, its page and its completion.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
  file(COPY ${CPACK_TEMPORARY_DIRECTORY}/opt/hipscope/share DESTINATION ${usr})
  file(MAKE_DIRECTORY ${usr}/bin)
  file(CREATE_LINK /opt/hipscope/hipscope ${usr}/bin/hipscope SYMBOLIC)
endif()
