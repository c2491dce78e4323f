/** The groups of the API's description, in reading order. */
export const tags = [
  { name: 'Authentication', description: 'Login, tokens and the caller’s account' },
  { name: 'Metamodel', description: 'Card types, relation types and stakeholder roles' },
  { name: 'Cards', description: 'The inventory' },
  { name: 'Relations', description: 'Relations between cards' },
  { name: 'Stakeholders', description: 'Roles of users on cards, and followers of cards' },
  { name: 'Comments', description: 'Comments on cards' },
  { name: 'To-dos', description: 'Tasks of users' },
  { name: 'Links and files', description: 'Links and files attached to cards' },
  { name: 'Calculations', description: 'Formulas that compute fields of cards' },
  { name: 'Tags', description: 'Tag groups, their tags, and the tags of cards' },
  { name: 'Favorites', description: 'The caller’s favorite cards' },
  { name: 'Bookmarks', description: 'Saved views of the inventory, which can be shared and read as OData' },
  { name: 'Surveys', description: 'Questions to stakeholders about their cards, and the answers' },
  {
    name: 'Web portals',
    description: 'Public views of cards of one type, as JSON and as a page',
  },
  {
    name: 'Diagrams',
    description: 'Drawings linked to cards, diagram groups, and generated diagrams',
  },
  {
    name: 'Processes',
    description: 'Process diagrams with their elements, flow versions with approval, and assessments',
  },
  {
    name: 'Architecture decisions',
    description: 'Decision records: written, signed, revised and linked to cards',
  },
  {
    name: 'Statements of architecture work',
    description: 'The agreed scope and approach of an initiative, in sections, and its signatories',
  },
  {
    name: 'Compliance',
    description: 'Compliance of the inventory with regulations, and decisions about gaps',
  },
  {
    name: 'Project portfolio',
    description: 'Status, costs, risks and plans of initiatives, with completion and critical path',
  },
  {
    name: 'Risks',
    description: 'The risk register: risks, the affected cards, and their mitigation',
  },
  {
    name: 'Reference catalogues',
    description: 'Catalogues of common objects, and the creation of cards from them',
  },
  {
    name: 'Migration',
    description: 'Migration from other tools: staged, reviewed, mapped and applied',
  },
  { name: 'Imports and exports', description: 'Import and export of files, as jobs' },
  { name: 'Workspace transfer', description: 'Export and import of complete workspaces as archives' },
  { name: 'End of life', description: 'Support periods of products, and the cards linked to them' },
  { name: 'Jobs', description: 'Background jobs' },
  { name: 'Reports', description: 'Figures over the inventory' },
  { name: 'Saved reports', description: 'Stored reports with their parameters, which can be shared' },
  {
    name: 'Target architecture',
    description: 'From objectives and capabilities to an initiative with cards and relations, in phases',
  },
  { name: 'OData', description: 'OData 4.01: the inventory for spreadsheets and BI tools' },
  { name: 'Model Context Protocol', description: 'The inventory as tools for language models and agents' },
  { name: 'Notifications', description: 'Notifications of the caller, and their settings' },
  { name: 'Events', description: 'Audit log, change feed and live stream' },
  {
    name: 'Mutation batches',
    description: 'Groups of writes, which can be listed, inspected and rolled back together',
  },
  {
    name: 'ITSM synchronisation',
    description: 'Synchronisation with remote databases of configuration items',
  },
  {
    name: 'AI',
    description: 'Synchronous requests to language models',
  },
  {
    name: 'AI analysis',
    description: 'Analyses of the complete inventory, which run as jobs: runs and results',
  },
  { name: 'Webhooks', description: 'Delivery of changes to other systems' },
  { name: 'Users and roles', description: 'Users, roles and permissions' },
  { name: 'Provisioning', description: 'SCIM 2.0: accounts and groups managed by an identity provider' },
  { name: 'Tokens', description: 'Personal and service tokens, for programs' },
  { name: 'Settings', description: 'Configuration of the workspace and its modules' },
  { name: 'Health', description: 'State of the service' },
  { name: 'API description', description: 'This document and its page' },
];
