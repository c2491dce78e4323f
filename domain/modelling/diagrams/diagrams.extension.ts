import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs, personal } from '../../kernel/undo/undo.types.ts';
import { MANAGE_LINKS } from './diagrams.commands.ts';
import {
  Diagram,
  DiagramCard,
  type DiagramCardRow,
  DiagramFavorite,
  DiagramGroup,
  Drawing,
  linkEvent,
  ownersOf,
} from './diagrams.load.ts';
import { deleteUnusedDrawings } from './drawings.store.ts';

const right = needs('diagrams.manage');

const resources: readonly Resource[] = [
  {
    model: DiagramGroup,
    name: 'diagram group',
    events: rowEvents('diagram_group'),
    undo: { right },
    transfer: { matches: [['lower(%.name)']], label: 't.name' },
  },
  {
    model: Drawing,
    name: 'drawing',
    events: {},
    undo: { refused: 'Drawings are restored with the diagrams that use them.' },
    transfer: {
      noPeople: true,
      omitted: ['left_at'],
      where: () => 'exists (select from diagrams d where d.drawing = t.id)',
    },
  },
  {
    model: Diagram,
    name: 'diagram',
    events: rowEvents('diagram'),
    undo: { right },
    transfer: { label: 't.name' },
  },
  {
    model: DiagramCard,
    name: 'diagram link',
    events: { created: ['diagram.linked'], deleted: ['diagram.unlinked'] },
    card: 'card_id',
    undo: { right: needs(MANAGE_LINKS) },
    cardReferences: [
      {
        column: 'card_id',
        once: {
          by: ['diagram_id'],
          // the diagram may be private, so only the user who linked the card receives the event
          event: ({ id }, type, row) => {
            const link = row as DiagramCardRow;
            return { ...linkEvent({ id, type: type.key }, link, true, link.user_id), scope: 'user' };
          },
        },
      },
    ],
    transfer: { matches: [['%.diagram_id', '%.card_id']] },
  },
  {
    model: DiagramFavorite,
    name: 'diagram favorite',
    events: { created: ['diagram_favorite.created'], deleted: ['diagram_favorite.deleted'] },
    undo: { right: personal('diagrams.view') },
    transfer: { matches: [['%.user_id', '%.diagram_id']], recipient: 'user_id' },
  },
];

/** Diagrams, and the cards that they show. */
export const diagramsExtension: Extension = {
  resources,
  cleanups: {
    diagram_drawings: (sql, { batches_days }) => deleteUnusedDrawings(sql, batches_days, CLEANUP_BATCH),
  },
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    const links = await deleteRowsOfCards<DiagramCardRow>(work, 'diagram_cards', [...byId.keys()]);
    const diagramIds = links.map(({ diagram_id }) => diagram_id);
    const owners = await ownersOf(work.sql, diagramIds);
    for (const row of links) {
      work.emit(linkEvent(byId.get(row.card_id)!, row, true, owners.get(row.diagram_id) ?? null));
    }
  },
};
