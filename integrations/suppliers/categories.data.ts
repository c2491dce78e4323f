/** A sub-category with the words that tell of it. */
export interface SubCategory {
  category: string;
  name: string;
  /** English words and phrases of names and descriptions; other languages are read as English where the glossary knows them. */
  words: readonly string[];
  /** Subtypes of cards that say as much as a word. */
  subtypes?: readonly string[];
}

const sub = (category: string, name: string, words: string, subtypes?: readonly string[]): SubCategory => ({
  category,
  name,
  words: words.split(', '),
  ...(subtypes ? { subtypes } : {}),
});

/** What suppliers supply; of two that are as likely the first counts. */
export const lexicon: readonly SubCategory[] = [
  sub(
    'Business applications',
    'Enterprise resource planning',
    'erp, enterprise resource planning, s 4hana, general ledger, ledger, accounting, controlling, finance, treasury, financial',
  ),
  sub(
    'Business applications',
    'Customer relations',
    'crm, customer relationship, customer master, sales, lead management, marketing, campaign, loyalty',
  ),
  sub(
    'Business applications',
    'Customer service',
    'contact center, call center, customer service, ticketing, helpdesk, chatbot, complaint',
  ),
  sub(
    'Business applications',
    'Personnel',
    'hr, hcm, human resources, human capital, personnel, payroll, recruiting, talent, workforce, employee, time recording, learning management',
  ),
  sub(
    'Business applications',
    'Procurement',
    'procurement, purchasing, sourcing, supplier, tenders, contract management',
  ),
  sub('Business applications', 'Travel and expenses', 'travel, expense, expenses, fleet'),
  sub(
    'Business applications',
    'Supply chain',
    'supply chain, scm, warehouse, logistics, transport, shipping, inventory, freight, stock',
  ),
  sub(
    'Business applications',
    'Engineering',
    'plm, product lifecycle, cad, simulation, manufacturing execution, mes, scada, engineering, asset management, maintenance',
  ),
  sub(
    'Business applications',
    'Commerce',
    'e commerce, ecommerce, web shop, shop, point of sale, pos, catalog, pricing, order management',
  ),
  sub(
    'Business applications',
    'Documents and signatures',
    'signature, e signature, output management, printing, scanning, archive, invoice',
  ),
  sub(
    'Business applications',
    'Content management',
    'content management, cms, dms, document management, digital asset, website',
  ),
  sub(
    'Business applications',
    'Billing and payments',
    'billing, payment, payments, collections, dunning, direct debit, subscription',
  ),
  sub(
    'Industry applications',
    'Insurance',
    'policy administration, policy, claims, underwriting, reinsurance, actuarial, insurance, broker',
  ),
  sub(
    'Industry applications',
    'Banking',
    'core banking, banking, lending, loan, mortgage, trading, custody, securities',
  ),
  sub(
    'Industry applications',
    'Health',
    'hospital, patient, clinical, laboratory, radiology, health, medical',
  ),
  sub('Industry applications', 'Utilities', 'metering, grid, energy trading, smart meter, utility'),
  sub('Industry applications', 'Public sector', 'citizen, case management, register, permit, municipal'),
  sub(
    'Governance, risk and compliance',
    'Risk and compliance',
    'grc, compliance, audit, risk, anti money laundering, aml, sanctions, fraud, privacy, regulatory reporting, solvency',
  ),
  sub(
    'Security',
    'Identity and access',
    'iam, identity, access management, single sign on, sso, authentication, directory, privileged access, active directory',
  ),
  sub(
    'Security',
    'Network security',
    'firewall, vpn, web application firewall, zero trust, intrusion, proxy',
  ),
  sub(
    'Security',
    'Threat protection',
    'siem, antivirus, endpoint protection, threat, vulnerability, malware, security, encryption, key management',
  ),
  sub(
    'Data and analytics',
    'Databases',
    'database, sql, sql server, postgresql, postgres, mysql, mongodb, nosql, data store, redis, oracle database, db2',
  ),
  sub(
    'Data and analytics',
    'Analytics',
    'analytics, business intelligence, bi, data warehouse, data lake, dashboard, reporting, olap, statistics, forecasting',
  ),
  sub(
    'Data and analytics',
    'Artificial intelligence',
    'artificial intelligence, ai, machine learning, language model, llm, deep learning, chat assistant',
    ['aiModel', 'aiAgent'],
  ),
  sub(
    'Data and analytics',
    'Master data',
    'master data, mdm, data quality, data catalog, data governance, geodata, address data',
  ),
  sub(
    'Integration and platforms',
    'Integration',
    'integration, esb, api management, api gateway, gateway, message broker, messaging, kafka, queue, etl, edi, file transfer',
  ),
  sub(
    'Integration and platforms',
    'Application platforms',
    'application server, app server, tomcat, web server, container, kubernetes, openshift, low code, workflow, bpm, process automation, rpa',
    ['paas'],
  ),
  sub(
    'Integration and platforms',
    'Development tools',
    'development, devops, source code, git, ci cd, build server, test automation, ide, code quality, framework, artifact',
  ),
  sub(
    'Infrastructure',
    'Cloud infrastructure',
    'cloud infrastructure, iaas, cloud hosting, virtual machine, cloud region',
    ['iaas'],
  ),
  sub(
    'Infrastructure',
    'Virtualisation',
    'virtualisation, virtualization, hypervisor, virtual desktop, vdi, esxi, vsphere',
  ),
  sub(
    'Infrastructure',
    'Operating systems',
    'operating system, linux, windows server, unix, rhel, aix, z os, mainframe',
  ),
  sub('Infrastructure', 'Storage and backup', 'storage, backup, recovery, san, nas, object store, tape'),
  sub(
    'Infrastructure',
    'Networks',
    'network, router, switch, wan, lan, load balancer, dns, wifi, telephony, telecom, mobile',
  ),
  sub(
    'Infrastructure',
    'Servers and devices',
    'server, hardware, laptop, notebook, workstation, printer, scanner, device, processor',
    ['hardware'],
  ),
  sub(
    'IT management',
    'IT service management',
    'itsm, service management, service desk, cmdb, incident, configuration management',
  ),
  sub(
    'IT management',
    'Monitoring',
    'monitoring, monitor, observability, log management, logging, tracing, alerting, job scheduling',
  ),
  sub(
    'IT management',
    'Project and portfolio management',
    'project management, portfolio management, issue tracking, agile, wiki, enterprise architecture, roadmap',
  ),
  sub(
    'Workplace',
    'Collaboration',
    'collaboration, video conferencing, chat, e mail, email, mail server, calendar, intranet, knowledge base, remote support',
  ),
  sub('Workplace', 'Office', 'office, word processing, spreadsheet, presentation, pdf, desktop'),
  sub(
    'Services',
    'IT services',
    'outsourcing, consulting, managed service, managed services, hosting, data center, system integrator, operations, service provider, support services',
    ['service'],
  ),
];

/** Where nothing tells what a supplier supplies. */
export const UNCATEGORISED = { category: 'Uncategorised', sub_category: '' };
