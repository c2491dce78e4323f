import type { Decision } from './compliance.model.ts';

/**
 * Who changes the decision: a person who maintains compliance, or a scan that finds a resolved gap again.
 */
export type Decider = 'person' | 'scan';

/**
 * The decisions that may follow each decision. Only the promotion to a risk sets `risk_tracked`, and only the risk changes
 * it afterwards.
 */
const moves: Readonly<Record<Decider, Readonly<Record<Decision, readonly Decision[]>>>> = {
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
    mitigated: ['in_review'],
    verified: ['in_review'],
    accepted: [],
    not_applicable: [],
    risk_tracked: [],
  },
};

/** The decisions that may follow. */
export const nextDecisions = (by: Decider, from: Decision): readonly Decision[] => moves[by][from];

/** Whether a decision requires a note. */
export const needsNote = (to: Decision): boolean => to === 'accepted';
