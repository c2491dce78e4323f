import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import { rowsOf } from './demo.rows.ts';
import type { DemoCardSource, DemoExtras, DemoLifecycle } from './demo.types.ts';

const category = rowsOf('TechCategory');
const platform = rowsOf('Platform');

export const techCategories: DemoCardSource[] = [
  category('TECH-DATA', 'Data Management', 'Technology that stores, moves and searches data.'),
  category(
    'TECH-DATABASE',
    'Relational Databases',
    'Databases with tables and transactions, for systems of record.',
    {},
    { parent: 'TECH-DATA' },
  ),
  category(
    'TECH-NOSQL',
    'Search and Document Stores',
    'Stores for text search, documents and short-lived keys.',
    {},
    { parent: 'TECH-DATA' },
  ),
  category(
    'TECH-MESSAGING',
    'Messaging and Events',
    'Queues, topics and gateways that tie systems together without tying them down.',
  ),
  category('TECH-OS', 'Operating Systems', 'Server operating systems, patched every month.'),
  category(
    'TECH-RUNTIME',
    'Languages and Frameworks',
    'Runtimes and frameworks in which our own software is written.',
  ),
  category(
    'TECH-CONTAINER',
    'Containers and Orchestration',
    'Where our own services and most bought ones run.',
  ),
  category('TECH-OPERATIONS', 'Delivery and Operations', 'Tools that build, roll out, watch and secure.'),
  category(
    'TECH-AI',
    'Machine Learning Models',
    'Trained models in use, bought or our own, each with an owner and a review date.',
  ),
  category(
    'TECH-INFRASTRUCTURE',
    'Computing Centre and Network',
    'Machines, storage, lines and the services around them.',
  ),
];

export const platforms: DemoCardSource[] = [
  platform(
    'PLAT-CONTAINER',
    'Harbour Container Platform',
    'Shared clusters on which product teams run their services, with pipelines, secrets and monitoring built in.',
    { platformType: 'technical' },
    { subtype: 'technical', alias: 'Harbour', lifecycle: { plan: -52, active: -42 }, approval: 'APPROVED' },
  ),
  platform(
    'PLAT-ENGAGEMENT',
    'Customer Engagement Platform',
    'Portal, app, chat and mail as one front towards the customer.',
    { platformType: 'digital' },
    { subtype: 'digital', lifecycle: { active: -40 } },
  ),
  platform(
    'PLAT-EVENTS',
    'Event Backbone',
    'Topics of business events that any team may read after the owner has agreed.',
    { platformType: 'technical' },
    { subtype: 'technical', lifecycle: { active: -30 } },
  ),
  platform(
    'PLAT-DATA',
    'Data and Insight Platform',
    'Warehouse, dashboards and the workspace for data scientists.',
    { platformType: 'digital' },
    { subtype: 'digital', lifecycle: { plan: -64, active: -55 } },
  ),
];

type Classification = 'standard' | 'phaseIn' | 'tolerated' | 'phaseOut' | 'declined';
const fit = { 4: 'fullyAppropriate', 3: 'adequate', 2: 'unreasonable', 1: 'inappropriate' };

const component =
  (subtype: string, licenseType: string) =>
  (
    externalId: string,
    name: string,
    description: string,
    facts: {
      version?: string;
      use?: Classification;
      fit?: keyof typeof fit;
      cost?: number;
      ai?: boolean;
      /** Product and release cycle as the facts about ends of life name them. */
      eol?: readonly [product: string, cycle: string];
    },
    lifecycle?: DemoLifecycle,
    { parent, ...extras }: DemoExtras = {},
  ): DemoCardSource => ({
    type: 'ITComponent',
    subtype,
    external_id: externalId,
    name,
    description,
    attributes: {
      technicalSuitability: fit[facts.fit ?? 3],
      resourceClassification: facts.use ?? 'standard',
      hasAiFeatures: facts.ai ?? false,
      licenseType,
      ...(facts.version === undefined ? {} : { version: facts.version }),
      ...(facts.cost === undefined ? {} : { costTotalAnnual: facts.cost }),
      ...(facts.eol === undefined ? {} : { [EOL_PRODUCT]: facts.eol[0], [EOL_CYCLE]: facts.eol[1] }),
    },
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(parent === undefined ? {} : { parent_external_id: parent }),
    ...extras,
  });

const open = component('software', 'Open source');
const licensed = component('software', 'Subscription');
const hardware = component('hardware', 'Purchase');
const service = component('service', 'Service contract');
const paas = component('paas', 'Pay per use');
const iaas = component('iaas', 'Pay per use');
const saas = component('saas', 'Subscription');
const model = component('aiModel', 'Pay per use');

/**
 * Versions of published products carry their true release and end-of-support dates, which no other day of the
 * landscape moves; everything else is told relative to the landscape's day.
 */
export const itComponents: DemoCardSource[] = [
  open(
    'ITC-POSTGRES',
    'PostgreSQL service',
    'Standard relational database for everything we write ourselves.',
    { fit: 4 },
    undefined,
    { approval: 'APPROVED' },
  ),
  open(
    'ITC-POSTGRES-14',
    'PostgreSQL 14',
    'Still under billing and the old quote store; to be moved to 17 with the next release of each.',
    { version: '14', use: 'phaseOut', fit: 2, cost: 18_000, eol: ['postgresql', '14'] },
    { active: '2021-09-30', endOfLife: '2026-11-12' },
    { parent: 'ITC-POSTGRES' },
  ),
  open(
    'ITC-POSTGRES-17',
    'PostgreSQL 17',
    'Version that the database team offers on the container platform.',
    { version: '17', fit: 4, cost: 64_000, eol: ['postgresql', '17'] },
    { active: '2024-09-26', endOfLife: '2029-11-08' },
    { parent: 'ITC-POSTGRES' },
  ),
  licensed(
    'ITC-ORACLE-19',
    'Oracle Database 19c',
    'Under the life system and the document archive. Licences are counted by core and audited.',
    { version: '19c', use: 'tolerated', cost: 520_000, eol: ['oracle-database', '19'] },
    { active: '2019-04-25', endOfLife: '2029-12-31' },
  ),
  licensed(
    'ITC-SQLSERVER-2019',
    'Microsoft SQL Server 2019',
    'Database of most bought products that run on Windows.',
    { version: '15.0', use: 'tolerated', cost: 145_000, eol: ['mssqlserver', '15.0'] },
    { active: '2019-11-04', phaseOut: '2025-02-28', endOfLife: '2030-01-08' },
  ),
  licensed(
    'ITC-DB2-115',
    'IBM Db2 11.5',
    'Holds the contracts of Ledgerline and nothing else.',
    { version: '11.5', use: 'phaseOut', fit: 1, cost: 380_000 },
    { active: '2019-06-25', endOfLife: '2027-04-30' },
  ),
  open(
    'ITC-REDIS-72',
    'Redis 7.2',
    'Cache and queue for our own services; nothing that matters lives there alone.',
    { version: '7.2', cost: 12_000 },
    { active: '2023-08-15', phaseOut: '2024-07-29', endOfLife: '2029-12-01' },
  ),
  licensed(
    'ITC-MONGODB-7',
    'MongoDB 7.0',
    'Document store of the telematics product.',
    { version: '7.0', use: 'tolerated', cost: 41_000, eol: ['mongodb', '7.0'] },
    { active: '2023-08-31', endOfLife: '2027-08-31' },
  ),
  licensed(
    'ITC-ELASTIC-819',
    'Elasticsearch 8.19',
    'Log search, and the search field of the portal.',
    { version: '8.19', cost: 58_000, eol: ['elasticsearch', '8'] },
    { active: '2025-07-29', endOfLife: '2027-07-15' },
  ),
  licensed(
    'ITC-RHEL-8',
    'Red Hat Enterprise Linux 8',
    'Half of all servers. New ones get release 9.',
    { version: '8.10', use: 'phaseOut', cost: 76_000, eol: ['rhel', '8'] },
    { active: '2019-05-07', phaseOut: '2024-05-31', endOfLife: '2029-05-31' },
  ),
  licensed(
    'ITC-RHEL-9',
    'Red Hat Enterprise Linux 9',
    "Standard server system, hardened by the security team's baseline.",
    { version: '9', fit: 4, cost: 118_000, eol: ['rhel', '9'] },
    { active: '2022-05-18', phaseOut: '2027-05-31', endOfLife: '2032-05-31' },
  ),
  licensed(
    'ITC-WINDOWS-2019',
    'Windows Server 2019',
    'Under scanning, intranet and treaty administration.',
    { version: '1809', use: 'phaseOut', fit: 2, cost: 52_000, eol: ['windows-server', '2019'] },
    { active: '2018-11-13', phaseOut: '2024-01-09', endOfLife: '2029-01-09' },
  ),
  licensed(
    'ITC-WINDOWS-2022',
    'Windows Server 2022',
    'For bought products that need Windows.',
    { version: '21H2', cost: 67_000, eol: ['windows-server', '2022'] },
    { active: '2021-08-18', phaseOut: '2026-10-13', endOfLife: '2031-10-14' },
  ),
  licensed(
    'ITC-SHAREPOINT-2019',
    'SharePoint Server 2019',
    'Product under the intranet, without extended support contract.',
    { version: '2019', use: 'phaseOut', fit: 1, cost: 39_000, eol: ['sharepoint', '2019'] },
    { active: '2018-10-22', phaseOut: '2024-01-09', endOfLife: '2026-07-14' },
  ),
  open(
    'ITC-JAVA-21',
    'Eclipse Temurin 21',
    'Java for our own back ends and for the configurations of Clausewell products.',
    { version: '21', fit: 4, eol: ['eclipse-temurin', '21'] },
    { active: '2023-10-10', endOfLife: '2029-12-31' },
  ),
  open(
    'ITC-SPRING-35',
    'Spring Boot 3.5',
    'Framework of thirty services. Open support has ended; the step to 4.1 is planned team by team.',
    { version: '3.5', use: 'phaseOut', fit: 2, eol: ['spring-boot', '3.5'] },
    { active: '2025-05-31', endOfLife: '2026-06-30' },
  ),
  open(
    'ITC-NODE-24',
    'Node.js 24',
    'Runtime of the portal and of small services at the edge.',
    { version: '24', fit: 4, eol: ['nodejs', '24'] },
    { active: '2025-05-06', phaseOut: '2026-10-20', endOfLife: '2028-04-30' },
  ),
  open(
    'ITC-ANGULAR-21',
    'Angular 21',
    'Framework of portal and service desk screens.',
    { version: '21' },
    { active: '2025-11-19', phaseOut: '2026-06-03', endOfLife: '2027-06-30' },
  ),
  open(
    'ITC-TOMCAT-9',
    'Apache Tomcat 9.0',
    'Servlet container of BrokerNet and CommissionWorks.',
    { version: '9.0', use: 'phaseOut', fit: 2, eol: ['tomcat', '9.0'] },
    { active: '2017-09-27', endOfLife: '2027-03-31' },
  ),
  component('software', 'Perpetual licence')(
    'ITC-COBOL',
    'Enterprise COBOL for the Mainframe',
    'Compiler of the 2.1 million lines that make up Ledgerline.',
    { use: 'phaseOut', fit: 1, cost: 96_000 },
    { active: -160, endOfLife: 20 },
  ),
  open(
    'ITC-KUBERNETES-135',
    'Kubernetes 1.35',
    'Orchestrator of the container platform; raised twice a year.',
    { version: '1.35', fit: 4, cost: 30_000 },
    { active: '2025-12-17', phaseOut: '2026-12-28', endOfLife: '2027-02-28' },
  ),
  licensed(
    'ITC-OPENSHIFT-420',
    'Red Hat OpenShift 4.20',
    'Cluster in the Swindon centre for what may not leave it yet.',
    { version: '4.20', use: 'tolerated', cost: 210_000 },
    { active: '2025-10-21', phaseOut: '2026-05-03', endOfLife: '2027-04-21' },
  ),
  open(
    'ITC-KAFKA-40',
    'Apache Kafka 4.0',
    'Carries the business events, with seven days of memory.',
    { version: '4.0', fit: 4, cost: 88_000 },
    { active: '2025-03-18' },
  ),
  open(
    'ITC-RABBITMQ-42',
    'RabbitMQ 4.2',
    'Queues between policy systems, billing and output.',
    { version: '4.2', cost: 15_000 },
    { active: '2025-10-27', endOfLife: '2026-07-31' },
  ),
  saas(
    'ITC-API-GATEWAY',
    'Gatehouse API Gateway',
    'Front door of all interfaces to partners: keys, limits and a log of every call.',
    { fit: 4, cost: 132_000 },
    { active: -38 },
  ),
  service(
    'ITC-FILE-TRANSFER',
    'Managed File Transfer',
    'Moves files with banks, brokers and bureaus, and calls someone when one is missing.',
    { use: 'tolerated', cost: 47_000 },
    { active: -105 },
  ),
  open(
    'ITC-KEYCLOAK',
    'Keycloak 26',
    'Login and second factor for staff and brokers.',
    { version: '26', fit: 4, cost: 22_000 },
    { active: '2024-10-04' },
  ),
  open(
    'ITC-TERRAFORM',
    'Terraform 1.14',
    'Describes cloud resources as text that is reviewed before it is applied.',
    { version: '1.14' },
    { active: '2025-11-19' },
  ),
  saas(
    'ITC-PIPELINES',
    'Pipeline Service',
    'Source code, reviews and build pipelines of all teams.',
    { fit: 4, cost: 104_000 },
    { active: -43 },
  ),
  open(
    'ITC-GRAFANA',
    'Metrics and Dashboards Stack',
    'Collects measurements from every service and draws them.',
    { cost: 26_000 },
    { active: -32 },
  ),
  paas(
    'ITC-CLOUD-DATABASE',
    'Nimbara Managed Database',
    'Database operated by the cloud provider, with point-in-time recovery for thirty-five days.',
    { fit: 4, cost: 275_000 },
    { active: -44 },
  ),
  paas(
    'ITC-CLOUD-CLUSTER',
    'Nimbara Managed Clusters',
    'Control planes of our clusters in two regions, London and Amsterdam.',
    { fit: 4, cost: 390_000 },
    { active: -42 },
  ),
  iaas(
    'ITC-CLOUD-COMPUTE',
    'Nimbara Virtual Machines',
    "Machines for bought products that don't run in containers.",
    { cost: 460_000 },
    { active: -76 },
  ),
  iaas(
    'ITC-CLOUD-STORAGE',
    'Nimbara Object Storage',
    'Buckets for documents, pictures, backups and the warehouse.',
    { fit: 4, cost: 142_000 },
    { active: -76 },
  ),
  model(
    'ITC-MODEL-DAMAGE',
    'Vehicle Damage Model',
    'Recognises damaged parts on photographs. Trained on 400,000 of our own closed claims.',
    { version: '3.2', use: 'phaseIn', ai: true, cost: 54_000 },
    { phaseIn: -6, active: 5 },
  ),
  model(
    'ITC-MODEL-LANGUAGE',
    'Nimbara Language Model',
    'General language model behind the chat assistant, called with our documents as context.',
    { version: 'L4', use: 'phaseIn', ai: true, cost: 73_000 },
    { phaseIn: -4, active: 8 },
  ),
  hardware(
    'ITC-MAINFRAME',
    'Swindon Mainframe',
    'Machine that runs Ledgerline. The lease ends with the shutdown of the centre.',
    { use: 'phaseOut', fit: 1, cost: 890_000 },
    { active: -80, phaseOut: -12, endOfLife: 21 },
  ),
  hardware(
    'ITC-STORAGE-ARRAY',
    'Swindon Storage Array',
    'Mirrored disks for everything that still stands in the centre.',
    { use: 'phaseOut', fit: 2, cost: 165_000 },
    { active: -64, endOfLife: 10 },
  ),
  hardware(
    'ITC-OFFICE-NETWORK',
    'Office Network',
    'Switches, wireless and firewalls of the four offices.',
    { cost: 128_000 },
    { active: -28, endOfLife: 44 },
  ),
  service(
    'ITC-DATA-CENTRE',
    'Swindon Data Centre',
    'Rented hall with power, cooling and guards. Notice has been given, and the day of the last truck is fixed.',
    { use: 'phaseOut', fit: 2, cost: 740_000 },
    { active: -190, phaseOut: -6, endOfLife: 21 },
  ),
  service(
    'ITC-OPERATIONS-DESK',
    'Round-the-clock Operations Desk',
    'Watches alarms outside office hours and wakes the right person.',
    { cost: 310_000 },
    { active: -60 },
  ),
];
