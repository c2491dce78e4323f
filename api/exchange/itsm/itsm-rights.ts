/** What is needed besides `itsm_sync.manage` by those who set up or steer runs. */
export const usesNote =
  'what the mapping uses of inventory.view, inventory.create, inventory.edit, inventory.archive, relations.view, relations.manage and costs.view';
