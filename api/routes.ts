import type { Services } from '../domain/kernel/services.ts';
import { registerAuthRoutes, registerPasswordRoutes, registerSsoRoutes } from './access/auth/auth.routes.ts';
import { registerSessionRoutes } from './access/auth/auth.session.routes.ts';
import { registerTwoFactorRoutes } from './access/auth/auth.two-factor.routes.ts';
import { registerRoleRoutes } from './access/roles/roles.routes.ts';
import { registerScimRoutes } from './access/scim/scim.routes.ts';
import { registerTokenRoutes } from './access/tokens/tokens.routes.ts';
import { registerUserRoutes, registerUserWriteRoutes } from './access/users/users.routes.ts';
import { registerAiRoutes, registerInsightRoutes } from './analysis/ai/ai.routes.ts';
import { registerAnalysisRoutes } from './analysis/ai-analysis/analysis.routes.ts';
import { registerAnalysisRunRoutes } from './analysis/ai-analysis/analysis-runs.routes.ts';
import { registerArchitectRoutes } from './analysis/ai-analysis/architect.routes.ts';
import { registerAssessmentRoutes } from './analysis/ai-analysis/assessments.routes.ts';
import { registerDuplicateRoutes } from './analysis/ai-analysis/duplicates.routes.ts';
import { registerModernizationRoutes } from './analysis/ai-analysis/modernizations.routes.ts';
import { registerVendorRoutes } from './analysis/ai-analysis/vendors.routes.ts';
import { registerScanRoutes } from './analysis/compliance/scans.routes.ts';
import { registerBatchRoutes } from './app/batches/batches.routes.ts';
import { registerHomeRoutes } from './app/home.routes.ts';
import { registerMcpRoutes } from './app/mcp/mcp.routes.ts';
import { registerMetricsRoute } from './app/metrics/metrics.routes.ts';
import { registerSettingImageRoutes } from './app/settings/settings.images.routes.ts';
import {
  registerAiSettingRoutes,
  registerBootstrapRoute,
  registerSettingRoutes,
  registerSettingTestRoutes,
} from './app/settings/settings.routes.ts';
import { registerWorkspaceRoutes } from './app/workspace/workspace.routes.ts';
import { registerCommentRoutes } from './collaboration/attached/comments.routes.ts';
import { registerFileRoutes } from './collaboration/attached/files.routes.ts';
import { registerStakeholderRoutes } from './collaboration/attached/stakeholders.routes.ts';
import { registerTodoRoutes } from './collaboration/attached/todos.routes.ts';
import { registerChannelRoutes } from './collaboration/channels/channels.routes.ts';
import { registerNotificationRoutes } from './collaboration/notifications/notifications.routes.ts';
import { registerSavedReportRoutes } from './collaboration/saved-reports/saved-reports.routes.ts';
import { registerBookmarkRoutes, registerFavoriteRoutes } from './collaboration/views/bookmarks.routes.ts';
import { registerWebhookRoutes } from './collaboration/webhooks/webhooks.routes.ts';
import { registerArchimateRoutes } from './exchange/archimate/archimate.routes.ts';
import { registerExportRoutes, registerExtractRoutes } from './exchange/exports/exports.routes.ts';
import { registerExtractionScheduleRoutes } from './exchange/extractions/extraction-schedules.routes.ts';
import { registerImportRoutes } from './exchange/imports/imports.routes.ts';
import { registerItsmConnectionRoutes } from './exchange/itsm/itsm-connections.routes.ts';
import { registerItsmMappingRoutes } from './exchange/itsm/itsm-mappings.routes.ts';
import { registerItsmQuestionRoutes } from './exchange/itsm/itsm-questions.routes.ts';
import { registerItsmRunRoutes } from './exchange/itsm/itsm-runs.routes.ts';
import { registerItsmSourceRoutes } from './exchange/itsm/itsm-sources.routes.ts';
import { registerMigrationRoutes } from './exchange/migration/migration.routes.ts';
import { registerODataRoutes } from './exchange/odata/odata.routes.ts';
import { registerPublicPortalRoutes } from './exchange/portals/portals.public.routes.ts';
import { registerPortalRoutes } from './exchange/portals/portals.routes.ts';
import { registerAdrFileRoutes, registerAdrRoutes } from './governance/adr/adr.routes.ts';
import { registerCatalogueRoutes } from './governance/catalogues/catalogues.routes.ts';
import { registerFindingRoutes } from './governance/compliance/findings.routes.ts';
import { registerEolRoutes } from './governance/eol/eol.routes.ts';
import { registerMitigationTaskRoutes } from './governance/risks/mitigation-tasks.routes.ts';
import { registerRiskRoutes } from './governance/risks/risks.routes.ts';
import { registerSoawRoutes } from './governance/soaw/soaw.routes.ts';
import { registerSurveyAnswerRoutes, registerSurveyRoutes } from './governance/surveys/surveys.routes.ts';
import { registerCalculationRoutes } from './inventory/calculations/calculations.routes.ts';
import { registerCardBulkRoutes } from './inventory/cards/cards.bulk.routes.ts';
import { registerCardMergeRoutes } from './inventory/cards/cards.merge.routes.ts';
import { registerCardOverviewRoute } from './inventory/cards/cards.overview.routes.ts';
import { registerCardReadRoutes } from './inventory/cards/cards.read.routes.ts';
import { registerCardWriteRoutes } from './inventory/cards/cards.write.routes.ts';
import { registerCostRoutes } from './inventory/costs/costs.routes.ts';
import { registerDataFlowRoutes } from './inventory/data-flows/data-flows.routes.ts';
import {
  registerCardTypeRoutes,
  registerStakeholderRoleRoutes,
} from './inventory/metamodel/card-types.routes.ts';
import { registerMetamodelRoutes } from './inventory/metamodel/metamodel.routes.ts';
import { registerRelationTypeRoutes } from './inventory/metamodel/relation-types.routes.ts';
import { registerRenameRoutes } from './inventory/metamodel/renames.routes.ts';
import { registerReferenceRoutes } from './inventory/reference/reference.routes.ts';
import { registerRelationGraphRoutes } from './inventory/relations/relations.graph.routes.ts';
import { registerRelationRoutes } from './inventory/relations/relations.routes.ts';
import { registerQueryRoutes } from './inventory/reports/query.routes.ts';
import { registerReportRoutes } from './inventory/reports/reports.routes.ts';
import { registerTagRoutes } from './inventory/tags/tags.routes.ts';
import { registerEventRoutes } from './kernel/events/events.routes.ts';
import { registerHealthRoutes } from './kernel/health/health.routes.ts';
import { registerJobRoutes } from './kernel/jobs/jobs.routes.ts';
import { registerProcessAssessmentRoutes } from './modelling/bpm/assessments.routes.ts';
import { registerProcessDiagramRoutes } from './modelling/bpm/diagrams.routes.ts';
import { registerProcessFlowRoutes } from './modelling/bpm/flow.routes.ts';
import {
  registerDiagramGroupRoutes,
  registerDiagramRoutes,
  registerGenerateRoutes,
} from './modelling/diagrams/diagrams.routes.ts';
import { registerInitiativeRoutes, registerPlanRoutes } from './modelling/ppm/plan.routes.ts';
import { registerOpenApiRoutes } from './openapi/openapi.routes.ts';
import type { App } from './types.ts';

/** Registers one group's schemas and operations. */
export type RouteGroup = (app: App, services: Services) => void | Promise<void>;

/** All groups, in the order of the OpenAPI document. */
export const routeGroups: RouteGroup[] = [
  registerAuthRoutes,
  registerSessionRoutes,
  registerPasswordRoutes,
  registerTwoFactorRoutes,
  registerSsoRoutes,
  registerMetamodelRoutes,
  registerCardTypeRoutes,
  registerRelationTypeRoutes,
  registerRenameRoutes,
  registerStakeholderRoleRoutes,
  registerCatalogueRoutes,
  registerCalculationRoutes,
  registerCardReadRoutes,
  registerCardOverviewRoute,
  registerHomeRoutes,
  registerCardWriteRoutes,
  registerCardBulkRoutes,
  registerCardMergeRoutes,
  registerRelationRoutes,
  registerRelationGraphRoutes,
  registerCostRoutes,
  registerDataFlowRoutes,
  registerTagRoutes,
  registerFavoriteRoutes,
  registerBookmarkRoutes,
  registerSavedReportRoutes,
  registerStakeholderRoutes,
  registerCommentRoutes,
  registerTodoRoutes,
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
  registerChannelRoutes,
  registerWebhookRoutes,
  registerItsmConnectionRoutes,
  registerItsmMappingRoutes,
  registerItsmQuestionRoutes,
  registerItsmRunRoutes,
  registerItsmSourceRoutes,
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
