/** The groups of the API's description, in reading order. */
export const tags = [
  { name: 'Authentication', description: 'Login, tokens and the own account' },
  { name: 'Metamodel', description: 'Card types, relation types and stakeholder roles' },
  { name: 'Cards', description: 'The inventory' },
  { name: 'Relations', description: 'How cards belong together' },
  { name: 'Imports and exports', description: 'Files in and out, as jobs' },
  { name: 'Jobs', description: 'Work in the background' },
  { name: 'Reports', description: 'Figures over the inventory' },
  { name: 'Notifications', description: 'What the caller is told of, and the switches for it' },
  { name: 'Events', description: 'Audit log, change feed and live stream' },
  { name: 'Users and roles', description: 'Who may do what' },
  { name: 'Tokens', description: 'Personal and service tokens, for programs' },
  { name: 'Health', description: 'State of the service' },
  { name: 'API description', description: 'This document and its page' },
];
