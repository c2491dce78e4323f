import type { Decision } from './compliance.types.ts';

/**
 * Who moves a finding: a person who maintains compliance, a scan that sees again what was resolved, or nobody but the
 * risk that the finding was promoted to.
 */
export type Mover = 'person' | 'scan';

/**
 * From each decision those that may follow. `risk_tracked` is reached by a promotion and left through the risk alone, so
 * that it stands on no other decision's line and has none of its own.
 */
const moves: Readonly<Record<Mover, Readonly<Record<Decision, readonly Decision[]>>>> = {
  person: {
    new: ['in_review', 'accepted', 'not_applicable'],
    in_review: ['mitigated', 'accepted', 'not_applicable', 'new'],
    mitigated: ['verified', 'in_review'],
    verified: ['in_review'],
    accepted: ['in_review'],
    not_applicable: ['in_review'],
    risk_tracked: [],
  },
  scan: {
    new: [],
    in_review: [],
    // what was said to be gone is there again
    mitigated: ['in_review'],
    verified: ['in_review'],
    accepted: [],
    not_applicable: [],
    risk_tracked: [],
  },
};

/** The decisions that the mover may take next. */
export const nextDecisions = (mover: Mover, from: Decision): readonly Decision[] => moves[mover][from];

/** The decisions that are taken with a note alone. */
export const needsNote = (to: Decision): boolean => to === 'accepted';
