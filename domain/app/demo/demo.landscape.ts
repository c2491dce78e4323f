import businessCards from './cards.business.json' with { type: 'json' };
import systemCards from './cards.systems.json' with { type: 'json' };
import flows from './data-flows.json' with { type: 'json' };
import { isMonthsFromToday, resolveDay } from './demo.dates.ts';
import { expandRelations } from './demo.relations.ts';
import type {
  DemoCard,
  DemoCardSource,
  DemoFlow,
  DemoLandscape,
  DemoRelationRow,
  DemoTagGroup,
} from './demo.types.ts';
import people from './people.json' with { type: 'json' };
import relations from './relations.json' with { type: 'json' };

/** Parents come before their children. */
const sources = [...businessCards, ...systemCards] as DemoCardSource[];

function cardOn(today: string, { lifecycle, attributes, ...rest }: DemoCardSource): DemoCard {
  const card: DemoCard = {
    ...rest,
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [
        key,
        isMonthsFromToday(value) ? resolveDay(today, value.months) : value,
      ]),
    ),
  };
  if (lifecycle) {
    card.lifecycle = Object.fromEntries(
      Object.entries(lifecycle).map(([phase, day]) => [phase, resolveDay(today, day)]),
    );
  }
  return card;
}

/**
 * The landscape of Larkfield Mutual, a fictitious insurer, on the day `today` (an ISO date). Dates of plans and
 * contracts are relative to that day. The result is the same for the same day.
 */
export function demoLandscape(today: string): DemoLandscape {
  return {
    cards: sources.map((source) => cardOn(today, source)),
    flows: flows as DemoFlow[],
    relations: (relations as DemoRelationRow[]).flatMap(expandRelations),
    tagGroups: people.tagGroups as DemoTagGroup[],
    users: people.users,
    stakeholders: (people.stakeholders as [email: string, role: string, cards: string][]).flatMap(
      ([email, role, cards]) =>
        cards.split(' ').map((card_external_id) => ({ card_external_id, email, role })),
    ),
  };
}
