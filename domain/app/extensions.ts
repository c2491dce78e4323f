import { accessExtension } from '../access/access.extension.ts';
import { adrExtension } from '../adr/adr.extension.ts';
import { analysisExtension } from '../analysis/analysis.extension.ts';
import { archimateExtension } from '../archimate/archimate.extension.ts';
import { assessmentsExtension } from '../assessments/assessments.extension.ts';
import { batchesExtension } from '../batches/batches.extension.ts';
import { bpmExtension } from '../bpm/bpm.extension.ts';
import { calculationsExtension } from '../calculations/calculations.extension.ts';
import { cardsExtension } from '../cards/cards.extension.ts';
import { cataloguesExtension } from '../catalogues/catalogues.extension.ts';
import { collaborationExtension } from '../collaboration/collaboration.extension.ts';
import { complianceExtension } from '../compliance/compliance.extension.ts';
import { complianceScansExtension } from '../compliance/scans.extension.ts';
import { diagramsExtension } from '../diagrams/diagrams.extension.ts';
import { duplicatesExtension } from '../duplicates/duplicates.extension.ts';
import { eolExtension } from '../eol/eol.extension.ts';
import { exportsExtension } from '../exports/exports.extension.ts';
import { composeExtensions, type Extension } from '../extensions.ts';
import { importsExtension } from '../imports/imports.extension.ts';
import { itsmExtension } from '../itsm/itsm.extension.ts';
import { metamodelExtension } from '../metamodel/metamodel.extension.ts';
import { migrationExtension } from '../migration/migration.extension.ts';
import { modernizationsExtension } from '../modernizations/modernizations.extension.ts';
import { notificationsExtension } from '../notifications/notifications.extension.ts';
import { portalsExtension } from '../portals/portals.extension.ts';
import { ppmExtension } from '../ppm/ppm.extension.ts';
import { risksExtension } from '../risks/risks.extension.ts';
import { savedReportsExtension } from '../saved-reports/saved-reports.extension.ts';
import { settingsExtension } from '../settings/settings.extension.ts';
import { soawExtension } from '../soaw/soaw.extension.ts';
import { suppliersExtension } from '../suppliers/suppliers.extension.ts';
import { surveysExtension } from '../surveys/surveys.extension.ts';
import { tagsExtension } from '../tags/tags.extension.ts';
import { viewsExtension } from '../views/views.extension.ts';
import { workspaceExtension } from '../workspace/workspace.extension.ts';
import { appExtension } from './app.extension.ts';

/** The extensions of all parts of the domain, in the order in which their hooks are called. */
export const extensionList: readonly Extension[] = [
  accessExtension,
  settingsExtension,
  metamodelExtension,
  calculationsExtension,
  cardsExtension,
  tagsExtension,
  collaborationExtension,
  viewsExtension,
  savedReportsExtension,
  notificationsExtension,
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
  importsExtension,
  archimateExtension,
  migrationExtension,
  itsmExtension,
  portalsExtension,
  exportsExtension,
  batchesExtension,
  workspaceExtension,
  appExtension,
];

export const extensions = composeExtensions(extensionList);
