import type { SchemaStep } from '../platform/migrate.ts';
import * as baseline from './baseline.ts';

/** All schema steps in the order in which they are applied, which is also the order of their names. */
export const schemaSteps: SchemaStep[] = [{ name: '0001-baseline', up: baseline.up }];
