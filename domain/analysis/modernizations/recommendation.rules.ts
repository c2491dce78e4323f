import type { CardFacts, ModernizationType } from './modernizations.types.ts';

/** What stands there today, and what to do with it, in a sentence made of facts alone. */
export function recommendationOf(
  type: ModernizationType,
  facts: CardFacts,
  end: string,
): { currentTech: string; recommendation: string } {
  const because = end === '' ? assessed(facts) : end;
  const what = { ...facts, name: shown(facts.name) };
  return {
    currentTech: shown(techOf(facts)),
    recommendation: shown(`${todo(type, what)}${because === '' ? '' : `: ${because}`}.`),
  };
}

function todo(type: ModernizationType, { name, cycle, endedParts, dependants }: CardFacts): string {
  const relying = dependants === 0 ? '' : ` after the ${dependants} cards that rely on it have moved`;
  switch (type) {
    case 'retire':
      return `Retire ${name}${relying}`;
    case 'migrate':
      return `Migrate ${name} to its successor`;
    case 'replace':
      return `Replace ${name}${relying}`;
    case 'upgrade':
      if (!cycle) return `Renew ${endedParts === 1 ? 'the component' : 'the components'} under ${name}`;
      return cycle.newest === null
        ? `Replace ${cycle.label} ${cycle.cycle} under ${name}`
        : `Upgrade ${name} to ${cycle.label} ${cycle.newest}`;
    case 'replatform':
      return `Move ${name} to another platform`;
    case 'refactor':
      return `Renew ${name} from within`;
  }
}

function assessed({ technical, functional, time, classification }: CardFacts): string {
  const parts = [
    technical && `technical suitability ${technical}`,
    functional && `functional suitability ${functional}`,
    time && `TIME model ${time}`,
    classification && `classified as ${classification}`,
  ];
  return parts.filter((part) => part).join(', ');
}

function techOf({ cycle, product, version, name, hosting, subtype }: CardFacts): string {
  if (cycle) return `${cycle.label} ${cycle.cycle}`;
  if (product) return product;
  if (version) return `${name} ${version}`;
  return [name, hosting ?? subtype].filter((part) => part).join(', ');
}

/** Longest text that is kept. */
const LONGEST = 500;

/** Texts of cards without control and direction marks, which would change how others are shown. */
const shown = (text: string): string =>
  text
    .slice(0, 4 * LONGEST)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);
