import { counted } from '../../../platform/counted.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Answers, hasChosen } from './architect.answers.ts';
import { isCritical } from './architect.gaps.ts';
import questions from './architect.questions.json' with { type: 'json' };
import type { Facts, Gap, GapKind, Question } from './architect.types.ts';
import { APPLICATION, listed } from './architect.words.ts';

/** The maximum number of options of one question. */
const MOST_OPTIONS = 30;

interface Asking {
  metamodel: Metamodel;
  facts: Facts;
  gaps: Gap[];
  answers: Answers;
}

type Options = NonNullable<Question['options']>;

const namesOf = (cards: { id: string; name: string }[]): Options =>
  cards.slice(0, MOST_OPTIONS).map(({ id, name }) => ({ value: id, label: name }));

interface CatalogueQuestion extends Pick<Question, 'question'> {
  type: string;
  options?: Record<string, string>;
  reason?: string;
}

/** A question of the catalogue. @param reason why it is asked; by default that of the catalogue. */
function ask(id: keyof typeof questions, reason?: string, options?: Options): Question {
  const known: CatalogueQuestion = questions[id];
  const offered =
    options ?? (known.options && Object.entries(known.options).map(([value, label]) => ({ value, label })));
  return {
    id,
    question: known.question,
    type: known.type as Question['type'],
    ...(offered ? { options: offered } : {}),
    reason: reason ?? known.reason ?? '',
  };
}

/** Questions about the business: goals, dates and the people concerned; depending on the inventory. */
export function businessQuestions({ metamodel, facts, gaps }: Asking): Question[] {
  const { capabilities, applications, objectives } = facts;
  const roots = capabilities.filter(({ parent_id }) => !capabilities.some(({ id }) => id === parent_id));
  const bare = gaps.filter(({ kind }) => kind === 'capability_without_application');
  const critical = applications.filter((application) => isCritical(metamodel, application));
  const users = uniquePeers(facts, 'Organization');
  const aim =
    objectives.length > 0
      ? `The session serves ${listed(objectives.map(({ name }) => name))}.`
      : 'The session names no objective.';
  const all = [
    ask('drivers', aim),
    ask('horizon'),
    ask('success'),
    roots.length > 1 &&
      ask(
        'focus',
        `${counted(capabilities.length, 'capability', 'capabilities')} are looked at.`,
        namesOf(roots),
      ),
    bare.length > 0 &&
      ask('uncovered', `No application supports ${listed(bare.map(({ card }) => card.name))}.`),
    critical.length > 0 &&
      ask(
        'interruption',
        `${listed(critical.map(({ name }) => name))} ${critical.length === 1 ? 'is' : 'are'} critical.`,
      ),
    users.length > 0 &&
      ask('organizations', `${counted(users.length, 'organisation')} use the applications.`, namesOf(users)),
    applications.length === 0 && ask('today'),
  ];
  return all.filter((question) => question !== false);
}

/** Questions about the applications: which can stay, their interfaces and data, and whether to buy or build. */
export function applicationQuestions({ metamodel, facts, gaps, answers }: Asking): Question[] {
  const { applications } = facts;
  const overlaps = gaps.filter(({ kind }) => kind === 'overlap');
  const overlapping = new Set(overlaps.flatMap(({ related }) => related.map(({ id }) => id)));
  const namesWith = (...kinds: GapKind[]) => [
    ...new Set(gaps.filter(({ kind }) => kinds.includes(kind)).map(({ card }) => card.name)),
  ];
  const ending = namesWith('end_of_life', 'component_end_of_life');
  const unfit = namesWith('low_fit');
  const hosting = [...new Set(applications.map(({ attributes }) => attributes.hostingType))].filter(
    (value) => typeof value === 'string',
  );
  const labels = metamodel.cardTypes.get(APPLICATION)?.fields.get('hostingType')?.optionLabels;
  const interfaces = uniquePeers(facts, 'Interface');
  const data = uniquePeers(facts, 'DataObject');
  const all = [
    ask('sourcing'),
    overlapping.size > 0 &&
      ask(
        'keep',
        `${counted(overlaps.length, 'capability is', 'capabilities are')} supported by several applications.`,
        namesOf(applications.filter(({ id }) => overlapping.has(id))),
      ),
    ending.length > 0 &&
      ask('support', `${listed(ending)} or what it rests on reaches the end of life by ${facts.horizon}.`),
    unfit.length > 0 && ask('improvement', `${listed(unfit)} is judged unfit by function or technology.`),
    hosting.length > 0 &&
      ask(
        'hosting',
        `Today: ${listed(hosting.map((value) => labels?.get(value) ?? value))}.`,
        [...(labels ?? [])].map(([value, label]) => ({ value, label })),
      ),
    interfaces.length > 0 &&
      ask('interfaces', `The applications provide or use ${counted(interfaces.length, 'interface')}.`),
    data.length > 0 &&
      ask('data', `The applications hold ${counted(data.length, 'data object')}.`, namesOf(data)),
    hasChosen(answers, 'drivers', 'regulation') && ask('regulations'),
  ];
  return all.filter((question) => question !== false);
}

/** The cards of a type that are related to the applications, without duplicates. */
function uniquePeers({ applications }: Facts, type: string): { id: string; name: string }[] {
  const all = applications.flatMap(({ peers }) => peers.filter((peer) => peer.type === type));
  return [...new Map(all.map((peer) => [peer.id, peer])).values()];
}
