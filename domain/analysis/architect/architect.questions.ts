import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Answers, chose } from './architect.answers.ts';
import { isCritical } from './architect.gaps.ts';
import type { Facts, Gap, GapKind } from './architect.types.ts';
import { APPLICATION, counted, listed } from './architect.words.ts';

/** Options that one question names at most. */
const MOST_OPTIONS = 30;

/** A question to whoever plans. `choice` takes one of the options, `multi` any, `text` words. */
export interface Question {
  /** The key of its answer. */
  id: string;
  question: string;
  type: 'text' | 'choice' | 'multi';
  options?: { value: string; label: string }[];
  /** Why it is asked: what the inventory says. */
  reason: string;
}

interface Asking {
  metamodel: Metamodel;
  facts: Facts;
  gaps: Gap[];
  answers: Answers;
}

const options = (pairs: Record<string, string>) =>
  Object.entries(pairs).map(([value, label]) => ({ value, label }));
const namesOf = (cards: { id: string; name: string }[]) =>
  cards.slice(0, MOST_OPTIONS).map(({ id, name }) => ({ value: id, label: name }));

/** Questions about the business: what is to be reached, how soon, and for whom. Chosen by what the inventory holds. */
export function firstQuestions({ metamodel, facts, gaps }: Asking): Question[] {
  const { capabilities, applications, objectives } = facts;
  const questions: Question[] = [
    {
      id: 'drivers',
      question: 'What drives the change?',
      type: 'multi',
      options: options({
        cost: 'Lower running cost',
        growth: 'Growth or new business',
        regulation: 'Regulation',
        obsolescence: 'Ageing technology',
        satisfaction: 'Dissatisfied users',
        merger: 'Merger or carve-out',
      }),
      reason:
        objectives.length > 0
          ? `The session serves ${listed(objectives.map(({ name }) => name))}.`
          : 'The session names no objective.',
    },
    {
      id: 'horizon',
      question: 'By when is the target architecture to be in place?',
      type: 'choice',
      options: options({ 6: 'In 6 months', 12: 'In 12 months', 24: 'In 24 months', 36: 'In 36 months' }),
      reason: 'What reaches its end of life until then is counted as a gap; without an answer, in 24 months.',
    },
    {
      id: 'success',
      question: 'By what will you see that it succeeded?',
      type: 'text',
      reason: 'It becomes the decision driver of the draft.',
    },
  ];
  const roots = capabilities.filter(({ parent_id }) => !capabilities.some(({ id }) => id === parent_id));
  if (roots.length > 1) {
    questions.push({
      id: 'focus',
      question: 'Which capabilities matter most?',
      type: 'multi',
      options: namesOf(roots),
      reason: `${counted(capabilities.length, 'capability', 'capabilities')} are looked at.`,
    });
  }
  const bare = gaps.filter(({ kind }) => kind === 'capability_without_application');
  if (bare.length > 0) {
    questions.push({
      id: 'uncovered',
      question: 'What is to become of capabilities that no application supports?',
      type: 'choice',
      options: options({
        support: 'They are to be supported',
        manual: 'They stay manual',
        later: 'Decide later',
      }),
      reason: `No application supports ${listed(bare.map(({ card }) => card.name))}.`,
    });
  }
  const critical = applications.filter((application) => isCritical(metamodel, application));
  if (critical.length > 0) {
    questions.push({
      id: 'interruption',
      question: 'Which interruption can the business bear while it changes over?',
      type: 'choice',
      options: options({ none: 'None: both run side by side', night: 'Some hours', weekend: 'A weekend' }),
      reason: `${listed(critical.map(({ name }) => name))} ${critical.length === 1 ? 'is' : 'are'} critical.`,
    });
  }
  const users = uniquePeers(facts, 'Organization');
  if (users.length > 0) {
    questions.push({
      id: 'organizations',
      question: 'Which organisations take part first?',
      type: 'multi',
      options: namesOf(users),
      reason: `${counted(users.length, 'organisation')} use the applications.`,
    });
  }
  if (applications.length === 0) {
    questions.push({
      id: 'today',
      question: 'How is the work done today?',
      type: 'text',
      reason: 'The inventory knows no application for these capabilities.',
    });
  }
  return questions;
}

/** Questions about the applications: what may stay, how they hang together, and whether to buy or to build. */
export function secondQuestions({ metamodel, facts, gaps, answers }: Asking): Question[] {
  const { applications } = facts;
  const questions: Question[] = [
    {
      id: 'sourcing',
      question: 'Is a new application rather to be bought or built?',
      type: 'choice',
      options: options({ buy: 'Bought', build: 'Built', either: 'Whatever fits' }),
      reason: 'It decides between options that are otherwise alike.',
    },
  ];
  const overlapping = new Set(
    gaps.flatMap(({ kind, related }) => (kind === 'overlap' ? related.map(({ id }) => id) : [])),
  );
  if (overlapping.size > 0) {
    const many = applications.filter(({ id }) => overlapping.has(id));
    questions.push({
      id: 'keep',
      question: 'Which of these applications have to stay?',
      type: 'multi',
      options: namesOf(many),
      reason: `${counted(gaps.filter(({ kind }) => kind === 'overlap').length, 'capability is', 'capabilities are')} supported by several applications.`,
    });
  }
  const ask = (
    kinds: GapKind[],
    id: string,
    question: string,
    pairs: Record<string, string>,
    what: string,
  ) => {
    const names = [...new Set(gaps.filter(({ kind }) => kinds.includes(kind)).map(({ card }) => card.name))];
    if (names.length === 0) return;
    questions.push({
      id,
      question,
      type: 'choice',
      options: options(pairs),
      reason: `${listed(names)} ${what}`,
    });
  };
  ask(
    ['end_of_life', 'component_end_of_life'],
    'support',
    'May support be prolonged beyond the end of life?',
    { no: 'No', paid: 'Yes, at a price', any: 'Yes' },
    `or what it rests on reaches the end of life by ${facts.horizon}.`,
  );
  ask(
    ['low_fit'],
    'improvement',
    'Can what does not fit well be improved where it is?',
    { yes: 'Yes', partly: 'In part', no: 'No' },
    'is judged unfit by function or technology.',
  );
  const hosting = [...new Set(applications.map(({ attributes }) => attributes.hostingType))].filter(
    (value): value is string => typeof value === 'string',
  );
  if (hosting.length > 0) {
    const labels = metamodel.cardTypes.get(APPLICATION)?.fields.get('hostingType')?.optionLabels;
    questions.push({
      id: 'hosting',
      question: 'Where may the target run?',
      type: 'multi',
      options: [...(labels ?? [])].map(([value, label]) => ({ value, label })),
      reason: `Today: ${listed(hosting.map((value) => labels?.get(value) ?? value))}.`,
    });
  }
  const interfaces = uniquePeers(facts, 'Interface');
  if (interfaces.length > 0) {
    questions.push({
      id: 'interfaces',
      question: 'How are data exchanged with what stays?',
      type: 'choice',
      options: options({ present: 'By the present interfaces', new: 'By new interfaces', mixed: 'By both' }),
      reason: `The applications provide or use ${counted(interfaces.length, 'interface')}.`,
    });
  }
  const data = uniquePeers(facts, 'DataObject');
  if (data.length > 0) {
    questions.push({
      id: 'data',
      question: 'Which data have to move?',
      type: 'multi',
      options: namesOf(data),
      reason: `The applications hold ${counted(data.length, 'data object')}.`,
    });
  }
  if (chose(answers, 'drivers', 'regulation')) {
    questions.push({
      id: 'regulations',
      question: 'Which regulations have to be met?',
      type: 'text',
      reason: 'Regulation was named as a driver.',
    });
  }
  return questions;
}

/** The cards of a type that are related to the applications, each once. */
function uniquePeers({ applications }: Facts, type: string): { id: string; name: string }[] {
  const all = applications.flatMap(({ peers }) => peers.filter((peer) => peer.type === type));
  return [...new Map(all.map((peer) => [peer.id, peer])).values()];
}
