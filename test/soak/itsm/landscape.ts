import type { ServiceNowEmulator } from '../../emulators/servicenow/server.ts';

/** One mapped kind of things on both sides. */
export interface Kind {
  key: 'component' | 'application';
  cardType: string;
  table: string;
  /** What names begin with. */
  noun: string;
}

export const kinds: readonly Kind[] = [
  // those that relations lead to come first, so that they have cards by then
  { key: 'component', cardType: 'ITComponent', table: 'cmdb_ci_server', noun: 'Server' },
  { key: 'application', cardType: 'Application', table: 'cmdb_ci_business_app', noun: 'Application' },
];
export const [components, applications] = kinds as readonly [Kind, Kind];

/** Mapped fields that people change, with their columns and who wins. */
export const texts = [
  { card_field: 'description', remote_field: 'short_description', direction: 'remote_leads' },
  { card_field: 'alias', remote_field: 'version', direction: 'local_leads' },
] as const;

/** All mapped fields: the name says who is who, and stays. */
export const fields = [
  { card_field: 'name', remote_field: 'name', direction: 'manual', is_identity: true },
  ...texts,
] as const;

export const relationType = 'relAppToITC';
const RELATION_KIND = 'Runs on::Runs';

/** How much there is at first. */
export type Size = { applications: number; components: number; relations: number };

/** Fills an instance. @returns the key of the kind of its relations. */
export function populate({ store }: ServiceNowEmulator, size: Size): string {
  const [parent_descriptor = '', child_descriptor = ''] = RELATION_KIND.split('::');
  const type = store.insert(
    'cmdb_rel_type',
    { name: RELATION_KIND, parent_descriptor, child_descriptor },
    'admin',
  ).values.sys_id!;
  const idsOf = ({ table, noun }: Kind, count: number) =>
    Array.from({ length: count }, (_, at) => {
      const values = { name: `${noun} ${at}`, short_description: `${noun} number ${at}`, version: `${at}.0` };
      return store.insert(table, values, 'admin').values.sys_id!;
    });
  const parents = idsOf(applications, size.applications);
  const children = idsOf(components, size.components);
  for (let at = 0; at < size.relations; at += 1) {
    const parent = parents[at % parents.length]!;
    const child = children[(at + Math.floor(at / parents.length)) % children.length]!;
    store.insert('cmdb_rel_ci', { parent, child, type }, 'admin');
  }
  return type;
}
