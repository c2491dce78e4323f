import type { ComplianceRule, Fact } from './rules.types.ts';

/** Filters that several regulations ask with. */
export const CRITICAL =
  'type = Application and attributes.businessCriticality in (missionCritical, businessCritical)';
export const THIRD_PARTY =
  '(attributes.commercialApplication = true or attributes.hostingType in (cloudSaaS, cloudPaaS, cloudIaaS))';
export const PERSONAL_DATA =
  'type = Application and relation.relAppToDataObj.target.attributes.isPersonalData = true';
export const USES_AI = '(attributes.hasAiFeatures = true or subtype in (aiAgent, aiModel))';

export const HAS_RESPONSIBLE = 'stakeholder.responsible is not empty';
export const HAS_PROVIDER = 'relation.relProviderToApp is not empty';
export const SUPPORTED_COMPONENTS = 'not relation.relAppToITC.target.lifecycle.endOfLife < {today}';

/** A gap on what the business cannot do without is the graver. */
export const gravest: ComplianceRule['graver'] = [
  { when: 'attributes.businessCriticality = missionCritical', severity: 'critical' },
];

export const criticality: Fact = { field: 'attributes.businessCriticality' };
export const hosting: Fact = { field: 'attributes.hostingType' };
export const endOfLife: Fact = { field: 'lifecycle.endOfLife' };
export const approval: Fact = { field: 'approval_status' };
export const responsible: Fact = { count: 'responsible people', role: 'responsible' };
export const providers: Fact = { count: 'providers', relation: 'relProviderToApp', end: 'source' };
export const components: Fact = { count: 'IT components', relation: 'relAppToITC', end: 'target' };
export const expiredComponents: Fact = {
  count: 'IT components past their end of life',
  relation: 'relAppToITC',
  end: 'target',
  where: 'lifecycle.endOfLife < {today}',
};
export const personalData: Fact = {
  count: 'data objects with personal data',
  relation: 'relAppToDataObj',
  end: 'target',
  where: 'attributes.isPersonalData = true',
};
