import type { DemoTagGroup, DemoUser } from './demo.types.ts';

/** Nobody among them has a password. */
export const users: DemoUser[] = [
  { email: 'imogen.hale@larkfield.example', display_name: 'Imogen Hale', role: 'member' },
  { email: 'tobias.renner@larkfield.example', display_name: 'Tobias Renner', role: 'member' },
  { email: 'sanne.devries@larkfield.example', display_name: 'Sanne de Vries', role: 'member' },
  { email: 'rafiq.osman@larkfield.example', display_name: 'Rafiq Osman', role: 'bpm_admin' },
  { email: 'grace.adeyemi@larkfield.example', display_name: 'Grace Adeyemi', role: 'member' },
  { email: 'owen.pritchard@larkfield.example', display_name: 'Owen Pritchard', role: 'member' },
  { email: 'lucia.moretti@larkfield.example', display_name: 'Lucia Moretti', role: 'viewer' },
  { email: 'daniel.kowal@larkfield.example', display_name: 'Daniel Kowal', role: 'viewer' },
];

const at = (account: string) => `${account}@larkfield.example`;

/** Person, role, and the cards on which they hold it, separated by blanks. */
export const stakeholderRows: [email: string, role: string, cards: string][] = [
  [
    at('imogen.hale'),
    'responsible',
    'INI-HORIZON INI-CLOUD-EXIT OBJ-ONE-CORE OBJ-LEAVE-SWINDON OBJ-RUN-COST PLAT-CONTAINER ORG-TECHNOLOGY CAP-8.3 CAP-3',
  ],
  [at('imogen.hale'), 'observer', 'APP-POLICYDESK APP-CLAIMBRIDGE INI-CLAIMS-AHEAD INI-RESILIENCE'],
  [
    at('tobias.renner'),
    'responsible',
    'APP-POLICYDESK APP-RATEFORGE APP-QUOTEHUB APP-LEDGERLINE IF-RATE-API IF-POLICY-API IF-POLICY-EVENTS DATA-POLICY CAP-2.2',
  ],
  [
    at('tobias.renner'),
    'technical_application_owner',
    'APP-POLICYDESK APP-RATEFORGE APP-QUOTEHUB APP-LEDGERLINE APP-BROKERNET APP-COMMISSIONWORKS',
  ],
  [at('tobias.renner'), 'it_project_manager', 'INI-SME-MIGRATION INI-LEDGERLINE-OFF INI-BROKER-PORTAL'],
  [
    at('sanne.devries'),
    'responsible',
    'ORG-NL APP-POLISPLUS APP-INSIGHTSTORE APP-ONECUSTOMER PLAT-DATA PLAT-EVENTS IF-WAREHOUSE-LOAD IF-CUSTOMER-API DATA-CUSTOMER OBJ-TRUSTED-DATA CAP-8.4',
  ],
  [at('sanne.devries'), 'it_project_manager', 'INI-NL-MIGRATION INI-ONE-CUSTOMER'],
  [
    at('rafiq.osman'),
    'process_owner',
    'PROC-CLAIM PROC-CLAIM-REGISTER PROC-CLAIM-ASSESS PROC-CLAIM-SETTLE PROC-CLAIM-FRAUD PROC-CLAIM-RECOVER PROC-COMPLAINT',
  ],
  [
    at('rafiq.osman'),
    'business_application_owner',
    'APP-CLAIMBRIDGE APP-CLAIMSTRACK APP-REPAIRNET APP-FRAUDLENS APP-DAMAGESIGHT',
  ],
  [
    at('rafiq.osman'),
    'responsible',
    'ORG-CLAIMS OBJ-CLAIMS-SPEED OBJ-FRAUD INI-CLAIMS-AHEAD CAP-4 CTX-LOSS-TO-PAYMENT DATA-CLAIM',
  ],
  [
    at('grace.adeyemi'),
    'responsible',
    'ORG-FINANCE APP-NORTHLEDGER APP-PREMIUMPAY APP-PAYRAIL PRO-CORVANE PRO-SUMWISE DATA-PREMIUM DATA-PAYMENT CAP-6',
  ],
  [
    at('grace.adeyemi'),
    'business_application_owner',
    'APP-NORTHLEDGER APP-GROUPCLOSE APP-PREMIUMPAY APP-DUECOURSE APP-CASHHARBOUR',
  ],
  [at('grace.adeyemi'), 'process_owner', 'PROC-BILL PROC-COMMISSION PROC-CLOSE PROC-CEDE'],
  [
    at('owen.pritchard'),
    'responsible',
    'ORG-PLATFORM ITC-POSTGRES ITC-KUBERNETES-135 ITC-CLOUD-CLUSTER ITC-CLOUD-DATABASE ITC-MAINFRAME ITC-DATA-CENTRE ITC-KAFKA-40 TECH-CONTAINER TECH-DATABASE PRO-NIMBARA PRO-REDHAT',
  ],
  [
    at('owen.pritchard'),
    'technical_application_owner',
    'APP-WATCHTOWER APP-KEYHOLDER APP-MYLARKFIELD APP-CLAIMBRIDGE APP-INSIGHTSTORE',
  ],
  [
    at('lucia.moretti'),
    'observer',
    'CAP-1 CAP-2 CAP-3 CAP-4 CAP-7.3 INI-RESILIENCE PRO-CLAUSEWELL PROC-RESILIENCE',
  ],
  [
    at('daniel.kowal'),
    'observer',
    'APP-MYLARKFIELD APP-MOBILE APP-CONTACTCIRCLE PLAT-ENGAGEMENT OBJ-SELF-SERVICE INI-ASSISTANT CTX-NEW-DRIVER',
  ],
];

export const tagGroups: DemoTagGroup[] = [
  {
    name: 'Line of Business',
    description: 'The lines a card belongs to; none means that it serves all of them.',
    mode: 'multi',
    mandatory: false,
    restrict_to_types: null,
    tags: [
      { name: 'Motor', description: 'Cars and vans.', color: '#1565c0' },
      { name: 'Home', description: 'Buildings and contents.', color: '#2e7d32' },
      { name: 'Commercial', description: 'Small businesses.', color: '#ef6c00' },
      { name: 'Life', description: 'Term life, income protection and endowments.', color: '#6a1b9a' },
    ],
  },
  {
    name: 'Regulation',
    description: 'Laws that ask for special care or evidence.',
    mode: 'multi',
    mandatory: false,
    restrict_to_types: null,
    tags: [
      { name: 'GDPR', description: 'Personal data in the sense of data protection law.', color: '#00838f' },
      { name: 'DORA', description: 'Counts for digital operational resilience.', color: '#ad1457' },
      { name: 'Solvency II', description: 'Feeds capital figures or their proof.', color: '#4e342e' },
    ],
  },
  {
    name: 'Rationalisation',
    description: 'What the application board has decided.',
    mode: 'single',
    mandatory: false,
    restrict_to_types: ['Application', 'Initiative'],
    tags: [
      { name: 'Keep', description: 'Part of the target picture.', color: '#2e7d32' },
      { name: 'Wave 1', description: 'Goes within two years.', color: '#c62828' },
      { name: 'Wave 2', description: 'Goes within three years.', color: '#f9a825' },
      {
        name: 'Wave 3',
        description: 'To be looked at again when the first two waves are through.',
        color: '#757575',
      },
    ],
  },
];
