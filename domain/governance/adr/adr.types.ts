import type { SignedKind } from '../signatures/signatures.types.ts';

export const adrRights: SignedKind['rights'] = { view: 'adr.view', manage: 'adr.manage', sign: 'adr.sign' };

/** The texts of a decision, in Markdown, in the order in which a reader wants them. */
export const adrTexts = [
  'context',
  'decision_drivers',
  'alternatives_considered',
  'pros_and_cons',
  'decision',
  'consequences',
  'confirmation',
  'more_information',
] as const;
export type AdrText = (typeof adrTexts)[number];

/** Its lists of short texts. */
export const adrLists = ['related_decisions', 'decision_makers', 'consulted', 'informed'] as const;
export type AdrList = (typeof adrLists)[number];

export const adrStatuses = ['draft', 'in_review', 'signed'] as const;

/** What a decision says. */
export type AdrContent = { title: string } & Record<AdrText, string | null> & Record<AdrList, string[]>;

export const MAX_TITLE = 500;
/** Characters of one text. */
export const MAX_TEXT = 100_000;
/** Entries of a list, and characters of one. */
export const MAX_ENTRIES = 100;
export const MAX_ENTRY = 500;
/** Cards that one decision is linked to. */
export const MAX_LINKS = 1_000;

/** What a decision is known by, such as `ADR-007`; its revisions share it. */
export const referenceNumber = (number: number): string => `ADR-${String(number).padStart(3, '0')}`;
