import { query } from '../../../platform/database.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs, personal } from '../../kernel/undo/undo.types.ts';
import { followSignatories, signedEvents, undoSigned } from '../signatures/signatures.signatories.ts';
import { soawEvent, soawKind } from './soaw.kind.ts';
import { Soaw, type SoawRow } from './soaw.model.ts';

/** Statements of architecture work. */
export const soawExtension: Extension = {
  resources: [
    {
      model: Soaw,
      name: soawKind.entity,
      events: signedEvents('soaw'),
      card: 'initiative_id',
      undo: {
        right: needs('soaw.manage'),
        rights: { 'soaw.signed': personal('soaw.sign'), 'soaw.rejected': personal('soaw.sign') },
        undo: undoSigned(soawKind),
      },
      cardReferences: [{ column: 'initiative_id' }],
      transfer: { label: 't.name' },
    },
  ],
  /** Statements are retained when their initiative is deleted. */
  async deleteWithCards(work, cards) {
    const byId = new Map(cards.map((card) => [card.id, card]));
    const updated = await query(work.sql).rows<{ initiative_id: string; row: SoawRow }>`update soaws t
      set initiative_id = null, updated_at = clock_timestamp()
      where initiative_id = any(${[...byId.keys()]}::uuid[])
       returning old.initiative_id, to_jsonb(t) as row`;
    for (const { initiative_id, row } of updated) {
      work.emit(soawEvent(byId.get(initiative_id)!, { ...row, initiative_id }, row));
    }
  },
  async userRightsChanged(work, ctx, userIds) {
    await followSignatories(work, ctx, soawKind, userIds);
  },
};
