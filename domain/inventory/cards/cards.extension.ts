import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { archivePurgeJob } from './archive-purge.job.ts';
import { APPROVE } from './cards.archive.ts';
import { Card, CardMerge, CardOldValue, CardRedirect } from './cards.model.ts';
import { ARCHIVE, DELETE } from './cards.removal.ts';
import { EDIT } from './cards.write.ts';
import { undoMergeEvent, undoMove } from './merge/merge.attached.ts';

const history: Resource['transfer'] = {
  excluded: 'service',
  reason: 'The history belongs to the service in which it happened.',
};
const merging = needs(EDIT, ARCHIVE);

/** Cards and their merges. */
export const cardsExtension: Extension = {
  resources: [
    {
      model: Card,
      name: 'card',
      events: {
        created: ['card.created'],
        updated: [
          'card.updated',
          'card.archived',
          'card.restored',
          'card.approval_status.approve',
          'card.approval_status.reject',
          'card.approval_status.reset',
        ],
        deleted: ['card.deleted'],
      },
      undo: {
        right: needs(EDIT),
        rights: {
          'card.created': needs('inventory.create'),
          'card.archived': needs(ARCHIVE),
          'card.restored': needs(ARCHIVE),
          'card.deleted': needs(DELETE),
          'card.approval_status.approve': needs(APPROVE),
          'card.approval_status.reject': needs(APPROVE),
          'card.approval_status.reset': needs(APPROVE),
        },
        inSets: true,
      },
      transfer: {
        matches: [['%.type', '%.external_id']],
        label: `t.type || '/' || coalesce(t.external_id, t.name)`,
        derived: ['data_quality', 'number'],
      },
      asOf: { byKey: ['attributes', 'lifecycle'] },
    },
    {
      model: CardMerge,
      name: 'merge',
      events: { created: ['card.merged'], deleted: ['card.unmerged'] },
      undo: { right: merging, undo: undoMergeEvent },
      transfer: history,
    },
    {
      model: CardRedirect,
      name: 'redirect of a merged card',
      events: {},
      undo: { refused: 'They are written with their merge.' },
      transfer: history,
    },
    {
      model: CardOldValue,
      name: 'old value of a card',
      events: {},
      undo: { refused: 'A trigger derives them from events.' },
      transfer: history,
    },
  ],
  undo: [{ entity: 'attachment', events: { updated: ['attachment.moved'] }, undo: undoMove }],
  undoRights: { 'attachment.moved': merging },
  jobs: [archivePurgeJob],
};
