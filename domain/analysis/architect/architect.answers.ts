import type { SessionInput } from './architect.input.ts';

/** The default planning horizon in months; the answer to `horizon` overrides it. */
const HORIZON_MONTHS = 24;
const MAX_MONTHS = 120;

/** The answers given so far, by question, each as a list of texts. Later ones take precedence. */
export type Answers = ReadonlyMap<string, string[]>;

/** Combines the answers of both phases. */
export function answersOf({ phase1QA, allQA }: SessionInput): Answers {
  const answers = new Map<string, string[]>();
  for (const given of [phase1QA, allQA]) {
    const pairs = Array.isArray(given)
      ? given.map(({ id, answer }) => [id ?? '', answer] as const)
      : Object.entries(given ?? {});
    for (const [id, answer] of pairs) {
      const texts = textsOf(answer);
      if (texts.length > 0) answers.set(id, texts);
    }
  }
  return answers;
}

function textsOf(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.flatMap((part) => textsOf(part));
  if (typeof answer === 'string') return answer.trim() === '' ? [] : [answer.trim()];
  return typeof answer === 'number' || typeof answer === 'boolean' ? [String(answer)] : [];
}

/** Whether one of the answers to a question is the option. */
export const hasChosen = (answers: Answers, question: string, option: string): boolean =>
  answers.get(question)?.includes(option) ?? false;

/** The last day of the planning horizon. */
export function planningHorizon(answers: Answers, day: string): string {
  const months = Number.parseInt(answers.get('horizon')?.[0] ?? '', 10);
  const ahead = months > 0 && months <= MAX_MONTHS ? months : HORIZON_MONTHS;
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const first = new Date(Date.UTC(year, month - 1 + ahead, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(date, last));
  return first.toISOString().slice(0, 10);
}
