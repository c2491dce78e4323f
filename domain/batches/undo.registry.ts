import { adrUndo } from '../adr/adr.undo.ts';
import { assessmentUndo } from '../assessments/assessments.events.ts';
import { bpmUndo } from '../bpm/bpm.events.ts';
import { calculationUndo } from '../calculations/calculations.undo.ts';
import { mergeUndo } from '../cards/merge/merge.events.undo.ts';
import { catalogueUndo } from '../catalogues/catalogues.undo.ts';
import { collaborationUndo } from '../collaboration/collaboration.undo.ts';
import { complianceUndo } from '../compliance/findings.events.ts';
import { diagramUndo } from '../diagrams/diagrams.events.ts';
import { duplicateUndo } from '../duplicates/duplicates.undo.ts';
import { metamodelUndo } from '../metamodel/changes/undo.ts';
import { modernizationUndo } from '../modernizations/modernizations.undo.ts';
import { notificationUndo } from '../notifications/notifications.undo.ts';
import { portalUndo } from '../portals/portals.events.ts';
import { ppmUndo } from '../ppm/ppm.undo.ts';
import { riskUndo } from '../risks/risks.events.ts';
import { savedReportUndo } from '../saved-reports/saved-reports.events.ts';
import { settingUndo } from '../settings/settings.undo.ts';
import { soawUndo } from '../soaw/soaw.undo.ts';
import { surveyUndo } from '../surveys/surveys.events.ts';
import { tagUndo } from '../tags/tags.undo.ts';
import { bookmarkUndo } from '../views/bookmarks.events.ts';
import { favoriteUndo } from '../views/favorites.ts';
import type { UndoSpec } from './undo.types.ts';

/** Everything that can be undone, by kind of object; a kind that is missing here is refused by name. */
export const undoSpecs: UndoSpec[] = [
  // one group a line
  metamodelUndo,
  adrUndo,
  assessmentUndo,
  bpmUndo,
  calculationUndo,
  catalogueUndo,
  collaborationUndo,
  complianceUndo,
  diagramUndo,
  mergeUndo,
  notificationUndo,
  portalUndo,
  ppmUndo,
  riskUndo,
  settingUndo,
  soawUndo,
  surveyUndo,
  tagUndo,
  favoriteUndo,
  bookmarkUndo,
  savedReportUndo,
  duplicateUndo,
  modernizationUndo,
].flat();
