import { accessExtension } from '../access/access.extension.ts';
import { assessmentsExtension } from '../analysis/assessments/assessments.extension.ts';
import { complianceScansExtension } from '../analysis/compliance/scans.extension.ts';
import { duplicatesExtension } from '../analysis/duplicates/duplicates.extension.ts';
import { modernizationsExtension } from '../analysis/modernizations/modernizations.extension.ts';
import { analysisExtension } from '../analysis/runs/analysis.extension.ts';
import { suppliersExtension } from '../analysis/suppliers/suppliers.extension.ts';
import { channelsExtension } from '../collaboration/channels/channels.extension.ts';
import { collaborationExtension } from '../collaboration/collaboration.extension.ts';
import { notificationsExtension } from '../collaboration/notifications/notifications.extension.ts';
import { savedReportsExtension } from '../collaboration/saved-reports/saved-reports.extension.ts';
import { viewsExtension } from '../collaboration/views/views.extension.ts';
import { webhooksExtension } from '../collaboration/webhooks/webhooks.extension.ts';
import { exchangeExtension } from '../exchange/exchange.extension.ts';
import { itsmExtension } from '../exchange/itsm/itsm.extension.ts';
import { migrationExtension } from '../exchange/migration/migration.extension.ts';
import { portalsExtension } from '../exchange/portals/portals.extension.ts';
import { adrExtension } from '../governance/adr/adr.extension.ts';
import { cataloguesExtension } from '../governance/catalogues/catalogues.extension.ts';
import { complianceExtension } from '../governance/compliance/compliance.extension.ts';
import { eolExtension } from '../governance/eol/eol.extension.ts';
import { risksExtension } from '../governance/risks/risks.extension.ts';
import { soawExtension } from '../governance/soaw/soaw.extension.ts';
import { surveysExtension } from '../governance/surveys/surveys.extension.ts';
import { calculationsExtension } from '../inventory/calculations/calculations.extension.ts';
import { cardsExtension } from '../inventory/cards/cards.extension.ts';
import { costsExtension } from '../inventory/costs/costs.extension.ts';
import { dataFlowsExtension } from '../inventory/data-flows/data-flows.extension.ts';
import { metamodelExtension } from '../inventory/metamodel/metamodel.extension.ts';
import { referenceExtension } from '../inventory/reference/reference.extension.ts';
import { relationsExtension } from '../inventory/relations/relations.extension.ts';
import { reportsExtension } from '../inventory/reports/reports.extension.ts';
import { tagsExtension } from '../inventory/tags/tags.extension.ts';
import { composeExtensions, type Extension } from '../kernel/extensions.ts';
import { bpmExtension } from '../modelling/bpm/bpm.extension.ts';
import { diagramsExtension } from '../modelling/diagrams/diagrams.extension.ts';
import { ppmExtension } from '../modelling/ppm/ppm.extension.ts';
import { appExtension } from './app.extension.ts';
import { settingsExtension } from './settings/settings.extension.ts';

/** The extensions of all parts of the domain, in the order in which their hooks are called. */
export const extensionList: readonly Extension[] = [
  accessExtension,
  settingsExtension,
  metamodelExtension,
  calculationsExtension,
  cardsExtension,
  reportsExtension,
  relationsExtension,
  costsExtension,
  dataFlowsExtension,
  tagsExtension,
  referenceExtension,
  collaborationExtension,
  viewsExtension,
  savedReportsExtension,
  notificationsExtension,
  channelsExtension,
  webhooksExtension,
  surveysExtension,
  complianceExtension,
  risksExtension,
  adrExtension,
  soawExtension,
  cataloguesExtension,
  eolExtension,
  bpmExtension,
  ppmExtension,
  diagramsExtension,
  analysisExtension,
  complianceScansExtension,
  assessmentsExtension,
  duplicatesExtension,
  modernizationsExtension,
  suppliersExtension,
  exchangeExtension,
  migrationExtension,
  itsmExtension,
  portalsExtension,
  appExtension,
];

export const extensions = composeExtensions(extensionList);
