import type { CardTypeSeed, Field, FieldOption } from '../../kernel/metamodel/metamodel.types.ts';

const select = (
  key: string,
  label: string,
  weight: number,
  options: FieldOption[],
  more: Partial<Field> = {},
): Field => ({
  key,
  label,
  type: 'single_select',
  weight,
  required: false,
  readonly: false,
  options,
  ...more,
});

const field = (type: Field['type'], key: string, label: string, weight: number): Field => ({
  key,
  label,
  type,
  weight,
  required: false,
  readonly: false,
});

const option = (key: string, label: string, color?: string): FieldOption =>
  color ? { key, label, color } : { key, label };

/** The built-in card types of a new workspace. */
export const cardTypeSeeds: CardTypeSeed[] = [
  {
    key: 'Objective',
    label: 'Objective',
    description: 'A goal the organisation pursues, with a target date and progress.',
    category: 'Strategy & Transformation',
    color: '#c7527d',
    icon: 'flag',
    sort_order: 0,
    has_hierarchy: false,
    has_successors: false,
    subtypes: [],
    fields_schema: [
      {
        section: 'Objective Information',
        fields: [
          select('objectiveType', 'Objective Type', 1, [
            option('strategic', 'Strategic'),
            option('tactical', 'Tactical'),
            option('operational', 'Operational'),
          ]),
          field('date', 'targetDate', 'Target Date', 1),
          field('number', 'progress', 'Progress (%)', 1),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'Platform',
    label: 'Platform',
    description: 'A set of shared technology or services that applications run on.',
    category: 'Strategy & Transformation',
    color: '#027446',
    icon: 'layers',
    sort_order: 1,
    has_hierarchy: false,
    has_successors: true,
    subtypes: [
      { key: 'digital', label: 'Digital' },
      { key: 'technical', label: 'Technical' },
    ],
    fields_schema: [
      {
        section: 'Platform Information',
        fields: [
          select('platformType', 'Platform Type', 1, [
            option('digital', 'Digital', '#1976d2'),
            option('technical', 'Technical', '#607d8b'),
          ]),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'Initiative',
    label: 'Initiative',
    description: 'A planned change: an idea, programme, project or epic.',
    category: 'Strategy & Transformation',
    color: '#33cc58',
    icon: 'rocket_launch',
    sort_order: 2,
    has_hierarchy: true,
    has_successors: true,
    subtypes: [
      { key: 'idea', label: 'Idea' },
      { key: 'program', label: 'Program' },
      { key: 'project', label: 'Project' },
      { key: 'epic', label: 'Epic' },
    ],
    fields_schema: [
      {
        section: 'Initiative Information',
        fields: [
          select('initiativeStatus', 'Status', 2, [
            option('onTrack', 'On Track', '#4caf50'),
            option('atRisk', 'At Risk', '#ff9800'),
            option('offTrack', 'Off Track', '#d32f2f'),
            option('onHold', 'On Hold', '#9e9e9e'),
            option('completed', 'Completed', '#1976d2'),
          ]),
          select('businessValue', 'Business Value', 1, [
            option('high', 'High', '#2e7d32'),
            option('medium', 'Medium', '#ff9800'),
            option('low', 'Low', '#9e9e9e'),
          ]),
          select('effort', 'Effort', 1, [
            option('high', 'High', '#d32f2f'),
            option('medium', 'Medium', '#ff9800'),
            option('low', 'Low', '#4caf50'),
          ]),
        ],
      },
      {
        section: 'Cost & Timeline',
        fields: [
          field('cost', 'costBudget', 'Budget', 1),
          field('cost', 'costActual', 'Actual Cost', 0),
          field('date', 'startDate', 'Start Date', 1),
          field('date', 'endDate', 'End Date', 1),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'it_project_manager', label: 'IT Project Manager' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'Organization',
    label: 'Organization',
    description: 'A unit, region, legal entity, team or customer.',
    category: 'Business Architecture',
    color: '#2889ff',
    icon: 'corporate_fare',
    sort_order: 3,
    has_hierarchy: true,
    has_successors: false,
    subtypes: [
      { key: 'businessUnit', label: 'Business Unit' },
      { key: 'region', label: 'Region' },
      { key: 'legalEntity', label: 'Legal Entity' },
      { key: 'team', label: 'Team' },
      { key: 'customer', label: 'Customer' },
    ],
    fields_schema: [
      {
        section: 'Organization Information',
        fields: [field('number', 'headCount', 'Head Count', 0), field('text', 'location', 'Location', 0)],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'BusinessCapability',
    label: 'Business Capability',
    description: 'What the business is able to do, independent of how it does it.',
    category: 'Business Architecture',
    color: '#003399',
    icon: 'account_tree',
    sort_order: 4,
    has_hierarchy: true,
    has_successors: false,
    subtypes: [],
    fields_schema: [
      {
        section: 'Capability Information',
        fields: [
          select(
            'capabilityLevel',
            'Capability Level',
            0,
            [
              option('Macro', 'Macro', '#8e24aa'),
              option('L1', 'Level 1', '#1565c0'),
              option('L2', 'Level 2', '#42a5f5'),
              option('L3', 'Level 3', '#90caf9'),
              option('L4', 'Level 4', '#bbdefb'),
              option('L5', 'Level 5', '#e3f2fd'),
            ],
            { readonly: true },
          ),
          field('boolean', 'isCoreCapability', 'Core Capability', 0),
        ],
      },
      {
        section: 'BPM Assessment',
        fields: [
          select('strategicImportance', 'Strategic Importance', 1, [
            option('low', 'Low', '#9e9e9e'),
            option('medium', 'Medium', '#ff9800'),
            option('high', 'High', '#1976d2'),
            option('critical', 'Critical', '#d32f2f'),
          ]),
          select('maturity', 'Capability Maturity', 1, [
            option('initial', '1 - Initial', '#d32f2f'),
            option('managed', '2 - Managed', '#ff9800'),
            option('defined', '3 - Defined', '#fbc02d'),
            option('measured', '4 - Measured', '#66bb6a'),
            option('optimized', '5 - Optimized', '#2e7d32'),
          ]),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'BusinessContext',
    label: 'Business Context',
    description: 'A setting in which the business acts: value streams, journeys, products.',
    category: 'Business Architecture',
    color: '#fe6690',
    icon: 'swap_horiz',
    sort_order: 5,
    has_hierarchy: true,
    has_successors: false,
    subtypes: [
      { key: 'process', label: 'Process' },
      { key: 'valueStream', label: 'Value Stream' },
      { key: 'customerJourney', label: 'Customer Journey' },
      { key: 'businessProduct', label: 'Business Product' },
      { key: 'esgCapability', label: 'ESG Capability' },
    ],
    fields_schema: [
      {
        section: 'Business Context Information',
        fields: [
          select('maturity', 'Maturity', 1, [
            option('initial', 'Initial', '#d32f2f'),
            option('defined', 'Defined', '#ff9800'),
            option('managed', 'Managed', '#fbc02d'),
            option('optimized', 'Optimized', '#4caf50'),
          ]),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'BusinessProcess',
    label: 'Business Process',
    description: 'A sequence of activities that produces a result.',
    category: 'Business Architecture',
    color: '#028f00',
    icon: 'route',
    sort_order: 6,
    has_hierarchy: true,
    has_successors: true,
    subtypes: [
      { key: 'category', label: 'Process Category' },
      { key: 'group', label: 'Process Group' },
      { key: 'process', label: 'Process' },
      { key: 'variant', label: 'Process Variant' },
    ],
    fields_schema: [
      {
        section: 'Process Classification',
        fields: [
          select(
            'processType',
            'Process Type',
            2,
            [
              option('core', 'Core', '#1976d2'),
              option('support', 'Support', '#607d8b'),
              option('management', 'Management', '#9c27b0'),
            ],
            { required: true },
          ),
          select('maturity', 'Maturity (CMMI)', 2, [
            option('initial', '1 - Initial', '#d32f2f'),
            option('managed', '2 - Managed', '#ff9800'),
            option('defined', '3 - Defined', '#fbc02d'),
            option('measured', '4 - Measured', '#66bb6a'),
            option('optimized', '5 - Optimized', '#2e7d32'),
          ]),
          select('automationLevel', 'Automation Level', 1, [
            option('manual', 'Manual', '#d32f2f'),
            option('partiallyAutomated', 'Partially Automated', '#ff9800'),
            option('fullyAutomated', 'Fully Automated', '#4caf50'),
          ]),
          select('riskLevel', 'Risk Level', 1, [
            option('low', 'Low', '#4caf50'),
            option('medium', 'Medium', '#ff9800'),
            option('high', 'High', '#f44336'),
            option('critical', 'Critical', '#b71c1c'),
          ]),
        ],
      },
      {
        section: 'Operational Details',
        fields: [
          select('frequency', 'Execution Frequency', 1, [
            option('adHoc', 'Ad Hoc'),
            option('daily', 'Daily'),
            option('weekly', 'Weekly'),
            option('monthly', 'Monthly'),
            option('quarterly', 'Quarterly'),
            option('yearly', 'Yearly'),
            option('continuous', 'Continuous'),
          ]),
          field('url', 'documentationUrl', 'Process Documentation URL', 0),
          field('boolean', 'regulatoryRelevance', 'Regulatory Relevance', 1),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'process_owner', label: 'Process Owner' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'Application',
    label: 'Application',
    description: 'Software that supports the business.',
    category: 'Application & Data',
    color: '#0f7eb5',
    icon: 'apps',
    sort_order: 7,
    has_hierarchy: true,
    has_successors: true,
    subtypes: [
      { key: 'businessApplication', label: 'Business Application' },
      { key: 'microservice', label: 'Microservice' },
      { key: 'aiAgent', label: 'AI Agent' },
      { key: 'deployment', label: 'Deployment' },
    ],
    fields_schema: [
      {
        section: 'Application Information',
        fields: [
          select('hostingType', 'Hosting Type', 1, [
            option('onPremise', 'On-Premise'),
            option('cloudSaaS', 'Cloud (SaaS)'),
            option('cloudPaaS', 'Cloud (PaaS)'),
            option('cloudIaaS', 'Cloud (IaaS)'),
            option('hybrid', 'Hybrid'),
          ]),
          field('boolean', 'commercialApplication', 'Commercial Application', 0),
          field('boolean', 'hasAiFeatures', 'Has AI Features', 1),
        ],
      },
      {
        section: 'Assessment',
        fields: [
          select(
            'businessCriticality',
            'Business Criticality',
            2,
            [
              option('missionCritical', 'Mission Critical', '#d32f2f'),
              option('businessCritical', 'Business Critical', '#f57c00'),
              option('businessOperational', 'Business Operational', '#fbc02d'),
              option('administrativeService', 'Administrative', '#9e9e9e'),
            ],
            { required: true },
          ),
          select('functionalSuitability', 'Functional Suitability', 2, [
            option('perfect', 'Perfect', '#2e7d32'),
            option('appropriate', 'Appropriate', '#66bb6a'),
            option('insufficient', 'Insufficient', '#f57c00'),
            option('unreasonable', 'Unreasonable', '#d32f2f'),
          ]),
          select('technicalSuitability', 'Technical Suitability', 2, [
            option('fullyAppropriate', 'Fully Appropriate', '#2e7d32'),
            option('adequate', 'Adequate', '#66bb6a'),
            option('unreasonable', 'Unreasonable', '#f57c00'),
            option('inappropriate', 'Inappropriate', '#d32f2f'),
          ]),
          select(
            'timeModel',
            'TIME Model',
            3,
            [
              option('tolerate', 'Tolerate', '#ff9800'),
              option('invest', 'Invest', '#4caf50'),
              option('migrate', 'Migrate', '#2196f3'),
              option('eliminate', 'Eliminate', '#d32f2f'),
            ],
            { required: true },
          ),
        ],
      },
      {
        section: 'Cost & Ownership',
        fields: [
          field('cost', 'costTotalAnnual', 'Total Annual Cost', 1),
          field('number', 'numberOfUsers', 'Number of Users', 0),
          field('text', 'productName', 'Product Name', 0),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
      { key: 'technical_application_owner', label: 'Technical Application Owner' },
      { key: 'business_application_owner', label: 'Business Application Owner' },
    ],
  },
  {
    key: 'Interface',
    label: 'Interface',
    description: 'A connection over which applications exchange data.',
    category: 'Application & Data',
    color: '#02afa4',
    icon: 'sync_alt',
    sort_order: 8,
    has_hierarchy: false,
    has_successors: true,
    subtypes: [
      { key: 'logicalInterface', label: 'Logical Interface' },
      { key: 'api', label: 'API' },
      { key: 'mcpServer', label: 'MCP Server' },
    ],
    fields_schema: [
      {
        section: 'Interface Information',
        fields: [
          select('frequency', 'Frequency', 1, [
            option('realTime', 'Real-Time'),
            option('daily', 'Daily'),
            option('weekly', 'Weekly'),
            option('monthly', 'Monthly'),
            option('onDemand', 'On Demand'),
            option('batch', 'Batch'),
          ]),
          field('text', 'dataFormat', 'Data Format', 0),
          field('text', 'protocol', 'Protocol', 0),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'DataObject',
    label: 'Data Object',
    description: 'Information that the business creates and uses.',
    category: 'Application & Data',
    color: '#774fcc',
    icon: 'database',
    sort_order: 9,
    has_hierarchy: true,
    has_successors: true,
    subtypes: [],
    fields_schema: [
      {
        section: 'Data Information',
        fields: [
          select('dataSensitivity', 'Data Sensitivity', 1, [
            option('public', 'Public', '#4caf50'),
            option('internal', 'Internal', '#2196f3'),
            option('confidential', 'Confidential', '#ff9800'),
            option('restricted', 'Restricted', '#d32f2f'),
          ]),
          field('text', 'dataOwner', 'Data Owner', 0),
          field('boolean', 'isPersonalData', 'Contains Personal Data', 1),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'ITComponent',
    label: 'IT Component',
    description: 'A technical building block: software, hardware or a service.',
    category: 'Technical Architecture',
    color: '#d29270',
    icon: 'memory',
    sort_order: 10,
    has_hierarchy: true,
    has_successors: true,
    subtypes: [
      { key: 'software', label: 'Software' },
      { key: 'hardware', label: 'Hardware' },
      { key: 'saas', label: 'SaaS' },
      { key: 'paas', label: 'PaaS' },
      { key: 'iaas', label: 'IaaS' },
      { key: 'service', label: 'Service' },
      { key: 'aiModel', label: 'AI Model' },
    ],
    fields_schema: [
      {
        section: 'Component Information',
        fields: [
          select('technicalSuitability', 'Technical Suitability', 2, [
            option('fullyAppropriate', 'Fully Appropriate', '#2e7d32'),
            option('adequate', 'Adequate', '#66bb6a'),
            option('unreasonable', 'Unreasonable', '#f57c00'),
            option('inappropriate', 'Inappropriate', '#d32f2f'),
          ]),
          select('resourceClassification', 'Resource Classification', 2, [
            option('standard', 'Standard', '#4caf50'),
            option('phaseIn', 'Phase In', '#2196f3'),
            option('tolerated', 'Tolerated', '#ff9800'),
            option('phaseOut', 'Phase Out', '#f44336'),
            option('declined', 'Declined', '#9e9e9e'),
          ]),
          field('text', 'version', 'Version', 0),
          field('boolean', 'hasAiFeatures', 'Has AI Features', 1),
        ],
      },
      {
        section: 'Cost',
        fields: [
          field('cost', 'costTotalAnnual', 'Total Annual Cost', 1),
          field('text', 'licenseType', 'License Type', 0),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'TechCategory',
    label: 'Tech Category',
    description: 'A class of technology used to sort IT components.',
    category: 'Technical Architecture',
    color: '#a6566d',
    icon: 'category',
    sort_order: 11,
    has_hierarchy: true,
    has_successors: false,
    subtypes: [],
    fields_schema: [],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
  {
    key: 'Provider',
    label: 'Provider',
    description: 'A supplier of applications, components or services.',
    category: 'Technical Architecture',
    color: '#ffa31f',
    icon: 'storefront',
    sort_order: 12,
    has_hierarchy: false,
    has_successors: false,
    subtypes: [],
    fields_schema: [
      {
        section: 'Provider Information',
        fields: [
          select('providerType', 'Provider Type', 1, [
            option('vendor', 'Vendor'),
            option('partner', 'Partner'),
            option('internalProvider', 'Internal Provider'),
          ]),
          field('text', 'website', 'Website', 0),
          field('date', 'contractEnd', 'Contract End Date', 0),
        ],
      },
    ],
    stakeholder_roles: [
      { key: 'responsible', label: 'Responsible' },
      { key: 'observer', label: 'Observer' },
    ],
  },
];
