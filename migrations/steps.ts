import type { SchemaStep } from '../platform/migrate.ts';
import * as foundation from './steps/0001-foundation.ts';
import * as access from './steps/0002-access.ts';
import * as metamodel from './steps/0003-metamodel.ts';
import * as inventory from './steps/0004-inventory.ts';
import * as jobs from './steps/0005-jobs.ts';
import * as imports from './steps/0006-imports.ts';
import * as batches from './steps/0007-batches.ts';
import * as metamodelAdmin from './steps/0008-metamodel-admin.ts';
import * as merge from './steps/0009-merge.ts';
import * as collaboration from './steps/0011-collaboration.ts';
import * as views from './steps/0012-views.ts';
import * as accounts from './steps/0013-accounts.ts';
import * as settings from './steps/0014-settings.ts';
import * as notifications from './steps/0015-notifications.ts';
import * as sso from './steps/0016-sso.ts';
import * as webhooks from './steps/0017-webhooks.ts';
import * as calculations from './steps/0020-calculations.ts';
import * as surveys from './steps/0021-surveys.ts';
import * as scim from './steps/0022-scim.ts';
import * as eventObjects from './steps/0023-event-objects.ts';
import * as reports from './steps/0026-reports.ts';

/** All schema steps in the order in which they are applied. */
export const schemaSteps: SchemaStep[] = [
  { name: '0001-foundation', up: foundation.up },
  { name: '0002-access', up: access.up },
  { name: '0003-metamodel', up: metamodel.up },
  { name: '0004-inventory', up: inventory.up },
  { name: '0005-jobs', up: jobs.up },
  { name: '0006-imports', up: imports.up },
  { name: '0007-batches', up: batches.up },
  { name: '0008-metamodel-admin', up: metamodelAdmin.up },
  { name: '0009-merge', up: merge.up },
  { name: '0011-collaboration', up: collaboration.up },
  { name: '0012-views', up: views.up },
  { name: '0013-accounts', up: accounts.up },
  { name: '0014-settings', up: settings.up },
  { name: '0015-notifications', up: notifications.up },
  { name: '0016-sso', up: sso.up },
  { name: '0017-webhooks', up: webhooks.up },
  { name: '0020-calculations', up: calculations.up },
  { name: '0021-surveys', up: surveys.up },
  { name: '0022-scim', up: scim.up },
  { name: '0023-event-objects', up: eventObjects.up },
  { name: '0026-reports', up: reports.up },
];
