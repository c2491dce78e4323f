import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { EDIT } from '../cards/cards.write.ts';
import { keepUsedTag, rescoreAfterUndo, undoCardTag } from './tags.cards.ts';
import { CardTag, Tag } from './tags.model.ts';
import { tagGroupConsumers } from './tags.references.ts';

const topics = [METAMODEL_TOPIC];

/** Tags and tag groups. */
export const tagsExtension: Extension = {
  resources: [
    {
      model: TagGroup,
      name: 'tag group',
      events: rowEvents('tag_group'),
      topics,
      metamodel: true,
      undo: { right: needs('tags.manage'), settle: rescoreAfterUndo },
      transfer: { matches: [['lower(%.name)']], label: 't.name' },
      asOf: true,
    },
    {
      model: Tag,
      name: 'tag',
      events: rowEvents('tag'),
      topics,
      metamodel: true,
      undo: { right: needs('tags.manage'), check: keepUsedTag, settle: rescoreAfterUndo },
      transfer: { matches: [['%.tag_group_id', 'lower(%.name)']], label: 't.name' },
      asOf: true,
    },
    {
      model: CardTag,
      name: 'tag of a card',
      events: { created: ['tag.added'], deleted: ['tag.removed'] },
      card: 'card_id',
      undo: { right: needs(EDIT), undo: undoCardTag },
      transfer: { key: ['card_id', 'tag_id'], label: `t.card_id || '/' || t.tag_id` },
    },
  ],
  consumers: [tagGroupConsumers],
};
