import type { ServiceNowEmulator } from './server.ts';

export interface Landscape {
  /** By name of the class. */
  items: Record<string, number>;
  relations: number;
}

/** The relation types that a landscape uses, as an instance has them out of the box. */
export const relationTypes = ['Depends on::Used by', 'Runs on::Runs', 'Contains::Contained by'] as const;

const environments = ['Production', 'Test', 'Development'];
const classes = {
  cmdb_ci_business_app: 'Application',
  cmdb_ci_service: 'Service',
  cmdb_ci_appl: 'Process',
} as const;

/** Fills an instance with so many items of each class and so many relations among them; the same for the same seed. */
export function populate({ store }: ServiceNowEmulator, { items, relations }: Landscape): void {
  const companies = ['Northwind', 'Contoso', 'Fabrikam', 'Tailspin'].map(
    (name) => store.insert('core_company', { name }, 'admin').values.sys_id!,
  );
  const types = relationTypes.map((name) => {
    const [parent_descriptor = '', child_descriptor = ''] = name.split('::');
    return store.insert('cmdb_rel_type', { name, parent_descriptor, child_descriptor }, 'admin').values
      .sys_id!;
  });
  const ids: string[] = [];
  for (const [table, count] of Object.entries(items)) {
    const noun = classes[table as keyof typeof classes] ?? 'Host';
    for (let at = 0; at < count; at += 1) {
      const row = store.insert(
        table,
        {
          name: `${noun} ${at}`,
          short_description: `${noun} number ${at} of the landscape`,
          serial_number: `${table}-${at}`,
          environment: environments[at % environments.length]!,
          version: `${at % 9}.${at % 7}`,
          install_status: at % 11 === 0 ? '7' : '1',
          operational_status: '1',
          install_date: `20${10 + (at % 15)}-0${1 + (at % 9)}-15`,
          cost: String((at % 500) * 100),
          company: companies[at % companies.length]!,
          business_criticality: '2 - somewhat critical',
          ram: String(1024 * (1 + (at % 64))),
          virtual: String(at % 2 === 0),
        },
        'admin',
      );
      ids.push(row.values.sys_id!);
    }
  }
  // pairs never repeat: each step is another distance round the ring
  for (let at = 0; at < relations; at += 1) {
    const parent = ids[at % ids.length]!;
    const child = ids[(at + 1 + Math.floor(at / ids.length)) % ids.length]!;
    store.insert('cmdb_rel_ci', { parent, child, type: types[at % types.length]! }, 'admin');
  }
}
