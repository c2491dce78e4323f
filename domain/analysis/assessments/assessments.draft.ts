import { answersOf } from '../architect/architect.answers.ts';
import type { SessionInput } from '../architect/architect.input.ts';
import { optionTitle } from '../architect/architect.options.ts';
import { type OptionId, optionIds } from '../architect/architect.types.ts';
import type { CommitInput, CommitPlan } from './assessments.plan.ts';

/** What a draft is written from. */
interface DraftSource {
  input: CommitInput;
  plan: CommitPlan;
  requirement: string;
  session: Record<string, unknown>;
  objectives: string[];
  /** YYYY-MM-DD */
  day: string;
}

/** A text of users within a line of Markdown: nothing in it is markup. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~!]/g, '\\$&');

const list = (items: string[], none: string): string =>
  items.length > 0 ? items.map((item) => `* ${item}`).join('\n') : none;

/**
 * The draft of a decision record in Markdown, with the sections of MADR 4. It contains no costs, since every user who reads
 * sessions reads it.
 */
export function decisionDraft({ input, plan, requirement, session, objectives, day }: DraftSource): string {
  const answers = answersOf(session as SessionInput);
  const kept = session as {
    selectedOption?: { id?: string } | null;
    architecture?: { option?: string } | null;
  };
  const chosen = kept.selectedOption?.id ?? kept.architecture?.option;
  const option = optionIds.find((id) => id === chosen);
  const drivers = [
    ...objectives.map((name) => `Objective: ${plain(name)}`),
    ...(answers.get('drivers') ?? []).map(plain),
    ...(answers.get('success') ?? []).map((text) => `Success is seen by: ${plain(text)}`),
  ];
  const cards = (change: string): string[] =>
    [
      ...plan.made.map(({ card, name }) => ({ ...card, name })),
      ...plan.touched.map(({ card }) => card),
    ].flatMap((card) =>
      card.change === change
        ? `${plain(card.name)}${card.reasons?.length ? `: ${card.reasons.map(plain).join(' ')}` : ''}`
        : [],
    );
  const consequences = [
    ...cards('new').map((text) => `New: ${text}`),
    ...cards('changed').map((text) => `Changed: ${text}`),
    ...cards('retired').map((text) => `Retired by ${input.endDate}: ${text}`),
  ];
  const paragraphs = requirement.split(/\n\s*\n/).map(plain);
  return `---
status: proposed
date: ${day}
---

# ${plain(plan.name)}

## Context and Problem Statement

${paragraphs.join('\n\n')}

## Decision Drivers

${list(drivers, 'None was named.')}

## Considered Options

${list(optionIds.map(optionTitle), '')}

## Decision Outcome

${outcome(option)} It is carried out as the initiative ${plain(plan.name)} from ${input.startDate} to ${input.endDate}.

### Consequences

${list(consequences, 'No card changes.')}

### Confirmation

${list((answers.get('success') ?? []).map(plain), 'The initiative ends with every chosen card as planned.')}
`;
}

const outcome = (option: OptionId | undefined): string =>
  option ? `Chosen option: "${optionTitle(option)}".` : 'The option is the one that the session proposes.';
