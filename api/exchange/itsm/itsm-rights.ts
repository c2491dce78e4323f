/** The permissions that an operation needs in addition to `itsm_sync.manage`. */
export const usesNote =
  'those that the mapping uses: inventory.view, inventory.create, inventory.edit, inventory.archive, relations.view, relations.manage, costs.view';
