import { type Act, type Acts, deletes, patches } from './hand.ts';

const portals = '/web-portals';
const shown = [['description', 'lifecycle'], ['tags', 'relations.relAppToITC'], ['businessCriticality'], []];

const make: Act = (hand) =>
  hand.send('POST', portals, {
    name: hand.name('Portal'),
    slug: `portal-${hand.below(20)}`,
    card_type: 'Application',
    display_fields: hand.one(shown),
    is_published: hand.chance(0.5),
  });
const edit = patches('web_portals', portals, (hand) =>
  hand.one<object>([
    { is_published: hand.chance(0.5) },
    { slug: `portal-${hand.below(20)}` },
    { display_fields: hand.one(shown), card_config: { indexed: true } },
    { filters: { filter: 'approval_status = APPROVED' } },
    { filters: null, description: hand.one([null, 'About']) },
  ]),
);

/** Writes of web portals. */
export const portalActs: Acts = [
  [make, 3],
  [edit, 3],
  [deletes('web_portals', portals), 1],
];
