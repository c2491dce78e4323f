import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import { bpmUndo } from './bpm.events.ts';
import { deleteOfProcesses, unlinkCards } from './bpm.leave.ts';
import { PROCESS } from './bpm.types.ts';
import { removeUnusedContents } from './contents.store.ts';
import { followApprovers } from './flow.approvers.ts';

/** Process diagrams, their flow versions, assessments and links of elements. */
export const bpmExtension: Extension = {
  undo: bpmUndo,
  cardReferences: [
    { entity: 'process diagram', table: 'process_diagrams', column: 'process_id' },
    { entity: 'process flow', table: 'process_flow_versions', column: 'process_id' },
    { entity: 'process assessment', table: 'process_assessments', column: 'process_id' },
    { entity: 'process element link', table: 'process_element_links', column: 'process_id' },
    { entity: 'process element link', table: 'process_element_links', column: 'application_id' },
    { entity: 'process element link', table: 'process_element_links', column: 'data_object_id' },
    { entity: 'process element link', table: 'process_element_links', column: 'it_component_id' },
  ],
  cleanups: {
    process_contents: (sql, { batches_days }) => removeUnusedContents(sql, batches_days, CLEANUP_BATCH),
  },
  async deleteWithCards(work, cards) {
    const ids = cards.map(({ id }) => id);
    await deleteOfProcesses(work, ids);
    await unlinkCards(work, ids);
  },
  async userRightsChanged(work) {
    await followApprovers(work);
  },
  async stakeholdersChanged(work, cardType, cardIds) {
    if (cardType === PROCESS) await followApprovers(work, cardIds);
  },
};
