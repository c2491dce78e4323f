import { decisions } from '../../../../domain/governance/compliance/compliance.model.ts';
import type { Decider } from '../../../../domain/governance/compliance/decisions.rules.ts';
import { needsNote, nextDecisions } from '../../../../domain/governance/compliance/decisions.rules.ts';

/** Rows: from; columns in the same order: to; `+` may follow. */
const tables: Record<Decider, string[]> = {
  //       new in_review mitigated verified accepted not_applicable risk_tracked
  person: [
    '- + - - + + -', // new
    '+ - + - + + -', // in_review
    '- + - + - - -', // mitigated
    '- + - - - - -', // verified
    '- + - - - - -', // accepted
    '- + - - - - -', // not_applicable
    '- - - - - - -', // risk_tracked
  ],
  scan: [
    '- - - - - - -',
    '- - - - - - -',
    '- + - - - - -',
    '- + - - - - -',
    '- - - - - - -',
    '- - - - - - -',
    '- - - - - - -',
  ],
};

it.each(Object.entries(tables))(
  '%s moves a finding as the table says, and in no other way',
  (mover, rows) => {
    const drawn = decisions.map((from) =>
      decisions.map((to) => (nextDecisions(mover as Decider, from).includes(to) ? '+' : '-')).join(' '),
    );
    expect(drawn).toEqual(rows);
  },
);

it('asks for a note where a gap is accepted, and nowhere else', () =>
  expect(decisions.filter(needsNote)).toEqual(['accepted']));
