import type { Extension } from '../../kernel/extensions.ts';
import { mitigationsDueJob } from './mitigations.due.job.ts';
import { leaveRisks } from './risks.cards.ts';
import { riskCardEvent, riskUndo } from './risks.events.ts';
import { disownRisks } from './risks.leave.ts';
import type { RiskCardRow } from './risks.types.ts';

/** The risk register. */
export const risksExtension: Extension = {
  undo: riskUndo,
  jobs: [mitigationsDueJob],
  cardReferences: [
    {
      entity: 'risk link',
      table: 'risk_cards',
      column: 'card_id',
      once: {
        by: ['risk_id'],
        event: (card, type, row, _user, gone) => {
          const stored = row as RiskCardRow;
          const on = { id: card.id, type: type.key };
          return riskCardEvent(on, undefined, gone ? stored : null, gone ? null : stored);
        },
      },
    },
  ],
  async deleteWithCards(work, cards) {
    await leaveRisks(work, new Map(cards.map((card) => [card.id, card])));
  },
  async deleteWithUsers(work, _ctx, users) {
    await disownRisks(
      work,
      users.map(({ id }) => id),
    );
  },
};
