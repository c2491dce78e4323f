import type { SchemaStep } from '../platform/migrate.ts';
import * as foundation from './steps/0001-foundation.ts';
import * as access from './steps/0002-access.ts';
import * as metamodel from './steps/0003-metamodel.ts';
import * as inventory from './steps/0004-inventory.ts';
import * as jobs from './steps/0005-jobs.ts';
import * as imports from './steps/0006-imports.ts';

/** All schema steps in the order in which they are applied. */
export const schemaSteps: SchemaStep[] = [
  { name: '0001-foundation', up: foundation.up },
  { name: '0002-access', up: access.up },
  { name: '0003-metamodel', up: metamodel.up },
  { name: '0004-inventory', up: inventory.up },
  { name: '0005-jobs', up: jobs.up },
  { name: '0006-imports', up: imports.up },
];
