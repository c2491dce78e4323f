import type { Services } from '../domain/kernel/services.ts';
import { registerAdrFileRoutes } from './adr/adr.files.routes.ts';
import { registerAdrRoutes } from './adr/adr.routes.ts';
import { registerAiRoutes } from './ai/ai.routes.ts';
import { registerInsightRoutes } from './ai/insights.routes.ts';
import { registerAnalysisRoutes } from './ai-analysis/analysis.routes.ts';
import { registerAnalysisRunRoutes } from './ai-analysis/analysis-runs.routes.ts';
import { registerArchitectRoutes } from './ai-analysis/architect.routes.ts';
import { registerAssessmentRoutes } from './ai-analysis/assessments.routes.ts';
import { registerDuplicateRoutes } from './ai-analysis/duplicates.routes.ts';
import { registerModernizationRoutes } from './ai-analysis/modernizations.routes.ts';
import { registerVendorRoutes } from './ai-analysis/vendors.routes.ts';
import { registerArchimateRoutes } from './archimate/archimate.routes.ts';
import { registerPasswordRoutes } from './auth/auth.passwords.routes.ts';
import { registerAuthRoutes } from './auth/auth.routes.ts';
import { registerSsoRoutes } from './auth/auth.sso.routes.ts';
import { registerTwoFactorRoutes } from './auth/auth.two-factor.routes.ts';
import { registerBatchRoutes } from './batches/batches.routes.ts';
import { registerProcessAssessmentRoutes } from './bpm/assessments.routes.ts';
import { registerProcessDiagramRoutes } from './bpm/diagrams.routes.ts';
import { registerProcessFlowRoutes } from './bpm/flow.routes.ts';
import { registerCalculationRoutes } from './calculations/calculations.routes.ts';
import { registerCardBulkRoutes } from './cards/cards.bulk.routes.ts';
import { registerCardMergeRoutes } from './cards/cards.merge.routes.ts';
import { registerCardReadRoutes } from './cards/cards.read.routes.ts';
import { registerCardWriteRoutes } from './cards/cards.write.routes.ts';
import { registerCatalogueRoutes } from './catalogues/catalogues.routes.ts';
import { registerPrinciplesCatalogueRoutes } from './catalogues/principles.routes.ts';
import { registerCommentRoutes } from './collaboration/comments.routes.ts';
import { registerDocumentRoutes } from './collaboration/documents.routes.ts';
import { registerFileRoutes } from './collaboration/files.routes.ts';
import { registerStakeholderRoutes } from './collaboration/stakeholders.routes.ts';
import { registerTodoRoutes } from './collaboration/todos.routes.ts';
import { registerFindingRoutes } from './compliance/findings.routes.ts';
import { registerScanRoutes } from './compliance/scans.routes.ts';
import { registerDiagramGroupRoutes } from './diagrams/diagram-groups.routes.ts';
import { registerGenerateRoutes } from './diagrams/diagrams.generate.routes.ts';
import { registerDiagramRoutes } from './diagrams/diagrams.routes.ts';
import { registerEolRoutes } from './eol/eol.routes.ts';
import { registerEventRoutes } from './events/events.routes.ts';
import { registerExportRoutes } from './exports/exports.routes.ts';
import { registerExtractRoutes } from './exports/extracts.routes.ts';
import { registerExtractionScheduleRoutes } from './extractions/extraction-schedules.routes.ts';
import { registerHealthRoutes } from './health/health.routes.ts';
import { registerImportRoutes } from './imports/imports.routes.ts';
import { registerItsmConnectionRoutes } from './itsm/itsm-connections.routes.ts';
import { registerItsmMappingRoutes } from './itsm/itsm-mappings.routes.ts';
import { registerItsmQuestionRoutes } from './itsm/itsm-questions.routes.ts';
import { registerItsmReviewRoutes } from './itsm/itsm-review.routes.ts';
import { registerItsmRunRoutes } from './itsm/itsm-runs.routes.ts';
import { registerItsmUndoRoutes } from './itsm/itsm-undo.routes.ts';
import { registerJobRoutes } from './jobs/jobs.routes.ts';
import { registerMcpRoutes } from './mcp/mcp.routes.ts';
import { registerCardTypeRoutes } from './metamodel/card-types.routes.ts';
import { registerMetamodelRoutes } from './metamodel/metamodel.routes.ts';
import { registerRelationTypeRoutes } from './metamodel/relation-types.routes.ts';
import { registerStakeholderRoleRoutes } from './metamodel/stakeholder-roles.routes.ts';
import { registerMetricsRoute } from './metrics/metrics.routes.ts';
import { registerMigrationRoutes } from './migration/migration.routes.ts';
import { registerNotificationRoutes } from './notifications/notifications.routes.ts';
import { registerODataRoutes } from './odata/odata.routes.ts';
import { registerOpenApiRoutes } from './openapi/openapi.routes.ts';
import { registerPublicPortalRoutes } from './portals/portals.public.routes.ts';
import { registerPortalRoutes } from './portals/portals.routes.ts';
import { registerInitiativeRoutes } from './ppm/initiatives.routes.ts';
import { registerPlanRoutes } from './ppm/plan.routes.ts';
import { registerReferenceRoutes } from './reference/reference.routes.ts';
import { registerRelationRoutes } from './relations/relations.routes.ts';
import { registerQueryRoutes } from './reports/query.routes.ts';
import { registerReportRoutes } from './reports/reports.routes.ts';
import { registerMitigationTaskRoutes } from './risks/mitigation-tasks.routes.ts';
import { registerRiskRoutes } from './risks/risks.routes.ts';
import { registerRoleRoutes } from './roles/roles.routes.ts';
import { registerSavedReportRoutes } from './saved-reports/saved-reports.routes.ts';
import { registerScimRoutes } from './scim/scim.routes.ts';
import { registerAiSettingRoutes } from './settings/settings.ai.routes.ts';
import { registerBootstrapRoute } from './settings/settings.bootstrap.routes.ts';
import { registerSettingImageRoutes } from './settings/settings.images.routes.ts';
import { registerSettingRoutes } from './settings/settings.routes.ts';
import { registerSettingTestRoutes } from './settings/settings.tests.routes.ts';
import { registerSoawRoutes } from './soaw/soaw.routes.ts';
import { registerSurveyAnswerRoutes } from './surveys/surveys.answer.routes.ts';
import { registerSurveyRoutes } from './surveys/surveys.routes.ts';
import { registerTagRoutes } from './tags/tags.routes.ts';
import { registerTokenRoutes } from './tokens/tokens.routes.ts';
import type { App } from './types.ts';
import { registerUserRoutes } from './users/users.routes.ts';
import { registerUserWriteRoutes } from './users/users.write.routes.ts';
import { registerBookmarkRoutes } from './views/bookmarks.routes.ts';
import { registerFavoriteRoutes } from './views/favorites.routes.ts';
import { registerWebhookRoutes } from './webhooks/webhooks.routes.ts';
import { registerWorkspaceRoutes } from './workspace/workspace.routes.ts';

/** Registers one group's schemas and operations. */
export type RouteGroup = (app: App, services: Services) => void | Promise<void>;

/** Every group, in the order of the API's description. */
export const routeGroups: RouteGroup[] = [
  registerAuthRoutes,
  registerPasswordRoutes,
  registerTwoFactorRoutes,
  registerSsoRoutes,
  registerMetamodelRoutes,
  registerCardTypeRoutes,
  registerRelationTypeRoutes,
  registerStakeholderRoleRoutes,
  registerCatalogueRoutes,
  registerPrinciplesCatalogueRoutes,
  registerCalculationRoutes,
  registerCardReadRoutes,
  registerCardWriteRoutes,
  registerCardBulkRoutes,
  registerCardMergeRoutes,
  registerRelationRoutes,
  registerTagRoutes,
  registerFavoriteRoutes,
  registerBookmarkRoutes,
  registerSavedReportRoutes,
  registerStakeholderRoutes,
  registerCommentRoutes,
  registerTodoRoutes,
  registerDocumentRoutes,
  registerFileRoutes,
  registerProcessDiagramRoutes,
  registerProcessFlowRoutes,
  registerProcessAssessmentRoutes,
  registerAdrRoutes,
  registerAdrFileRoutes,
  registerSoawRoutes,
  registerFindingRoutes,
  registerScanRoutes,
  registerInitiativeRoutes,
  registerPlanRoutes,
  registerRiskRoutes,
  registerMitigationTaskRoutes,
  registerSurveyRoutes,
  registerSurveyAnswerRoutes,
  registerPortalRoutes,
  registerPublicPortalRoutes,
  registerDiagramRoutes,
  registerDiagramGroupRoutes,
  registerGenerateRoutes,
  registerUserRoutes,
  registerUserWriteRoutes,
  registerRoleRoutes,
  registerTokenRoutes,
  registerScimRoutes,
  registerJobRoutes,
  registerImportRoutes,
  registerExportRoutes,
  registerArchimateRoutes,
  registerWorkspaceRoutes,
  registerMigrationRoutes,
  registerExtractRoutes,
  registerExtractionScheduleRoutes,
  registerReportRoutes,
  registerQueryRoutes,
  registerODataRoutes,
  registerMcpRoutes,
  registerArchitectRoutes,
  registerAssessmentRoutes,
  registerEolRoutes,
  registerReferenceRoutes,
  registerNotificationRoutes,
  registerBootstrapRoute,
  registerSettingRoutes,
  registerSettingTestRoutes,
  registerAiSettingRoutes,
  registerSettingImageRoutes,
  registerEventRoutes,
  registerBatchRoutes,
  registerWebhookRoutes,
  registerItsmConnectionRoutes,
  registerItsmMappingRoutes,
  registerItsmQuestionRoutes,
  registerItsmReviewRoutes,
  registerItsmRunRoutes,
  registerItsmUndoRoutes,
  registerAiRoutes,
  registerAnalysisRoutes,
  registerInsightRoutes,
  registerAnalysisRunRoutes,
  registerVendorRoutes,
  registerModernizationRoutes,
  registerDuplicateRoutes,
  registerHealthRoutes,
  registerMetricsRoute,
  registerOpenApiRoutes,
];
