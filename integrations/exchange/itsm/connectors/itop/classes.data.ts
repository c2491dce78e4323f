/**
 * Classes of the public data model, with those that they extend: the service lists neither classes nor attributes. Classes of
 * an instance's own are found by their names.
 */
export const standardClasses: readonly [name: string, label: string, parent: string | null][] = [
  ['Brand', 'Brand', 'Typology'],
  ['BusinessProcess', 'Business process', 'FunctionalCI'],
  ['ApplicationSolution', 'Application solution', 'FunctionalCI'],
  ['ConnectableCI', 'Connectable CI', 'PhysicalDevice'],
  ['Contact', 'Contact', null],
  ['Contract', 'Contract', null],
  ['CustomerContract', 'Customer contract', 'Contract'],
  ['DatabaseSchema', 'Database schema', 'FunctionalCI'],
  ['DatacenterDevice', 'Datacenter device', 'ConnectableCI'],
  ['DBServer', 'DB server', 'SoftwareInstance'],
  ['Document', 'Document', null],
  ['Enclosure', 'Enclosure', 'PhysicalDevice'],
  ['Farm', 'Farm', 'VirtualHost'],
  ['FunctionalCI', 'Functional CI', null],
  ['Group', 'Group', null],
  ['Hypervisor', 'Hypervisor', 'VirtualHost'],
  ['IOSVersion', 'IOS version', 'Typology'],
  ['IPPhone', 'IP phone', 'TelephonyCI'],
  ['Licence', 'Licence', null],
  ['Location', 'Location', null],
  ['LogicalVolume', 'Logical volume', null],
  ['Middleware', 'Middleware', 'SoftwareInstance'],
  ['MiddlewareInstance', 'Middleware instance', 'FunctionalCI'],
  ['MobilePhone', 'Mobile phone', 'TelephonyCI'],
  ['Model', 'Model', 'Typology'],
  ['NAS', 'NAS', 'DatacenterDevice'],
  ['NetworkDevice', 'Network device', 'DatacenterDevice'],
  ['NetworkDeviceType', 'Network device type', 'Typology'],
  ['Organization', 'Organization', null],
  ['OSFamily', 'OS family', 'Typology'],
  ['OSVersion', 'OS version', 'Typology'],
  ['OSLicence', 'OS licence', 'Licence'],
  ['SoftwareLicence', 'Software licence', 'Licence'],
  ['OtherSoftware', 'Other software', 'SoftwareInstance'],
  ['PC', 'PC', 'ConnectableCI'],
  ['PCSoftware', 'PC software', 'SoftwareInstance'],
  ['PDU', 'PDU', 'PowerConnection'],
  ['Peripheral', 'Peripheral', 'PhysicalDevice'],
  ['Person', 'Person', 'Contact'],
  ['Phone', 'Phone', 'TelephonyCI'],
  ['PhysicalDevice', 'Physical device', 'FunctionalCI'],
  ['PowerConnection', 'Power connection', 'PhysicalDevice'],
  ['PowerSource', 'Power source', 'PowerConnection'],
  ['Printer', 'Printer', 'ConnectableCI'],
  ['ProviderContract', 'Provider contract', 'Contract'],
  ['Rack', 'Rack', 'PhysicalDevice'],
  ['SANSwitch', 'SAN switch', 'DatacenterDevice'],
  ['Server', 'Server', 'DatacenterDevice'],
  ['Service', 'Service', null],
  ['ServiceSubcategory', 'Service subcategory', null],
  ['Software', 'Software', null],
  ['SoftwareInstance', 'Software instance', 'FunctionalCI'],
  ['StorageSystem', 'Storage system', 'DatacenterDevice'],
  ['Subnet', 'Subnet', null],
  ['Tablet', 'Tablet', 'ConnectableCI'],
  ['TapeLibrary', 'Tape library', 'DatacenterDevice'],
  ['Team', 'Team', 'Contact'],
  ['TelephonyCI', 'Telephony CI', 'PhysicalDevice'],
  ['Typology', 'Typology', null],
  ['VirtualDevice', 'Virtual device', 'FunctionalCI'],
  ['VirtualHost', 'Virtual host', 'VirtualDevice'],
  ['VirtualMachine', 'Virtual machine', 'VirtualDevice'],
  ['VLAN', 'VLAN', null],
  ['WebApplication', 'Web application', 'FunctionalCI'],
  ['WebServer', 'Web server', 'SoftwareInstance'],
];

/** One end of a link: the attribute that leads there, and the class that it leads to. */
export interface LinkEnd {
  attribute: string;
  class: string;
}

/** Links of the public data model, with how they read from either end. */
export const standardLinks: readonly {
  class: string;
  from: LinkEnd;
  to: LinkEnd;
  forward: string;
  reverse: string;
}[] = [
  {
    class: 'lnkApplicationSolutionToFunctionalCI',
    from: { attribute: 'applicationsolution_id', class: 'ApplicationSolution' },
    to: { attribute: 'functionalci_id', class: 'FunctionalCI' },
    forward: 'depends on',
    reverse: 'impacts',
  },
  {
    class: 'lnkApplicationSolutionToBusinessProcess',
    from: { attribute: 'applicationsolution_id', class: 'ApplicationSolution' },
    to: { attribute: 'businessprocess_id', class: 'BusinessProcess' },
    forward: 'supports',
    reverse: 'depends on',
  },
  {
    class: 'lnkContactToFunctionalCI',
    from: { attribute: 'contact_id', class: 'Contact' },
    to: { attribute: 'functionalci_id', class: 'FunctionalCI' },
    forward: 'is responsible for',
    reverse: 'has the contact',
  },
  {
    class: 'lnkContactToService',
    from: { attribute: 'contact_id', class: 'Contact' },
    to: { attribute: 'service_id', class: 'Service' },
    forward: 'is responsible for',
    reverse: 'has the contact',
  },
  {
    class: 'lnkFunctionalCIToProviderContract',
    from: { attribute: 'functionalci_id', class: 'FunctionalCI' },
    to: { attribute: 'providercontract_id', class: 'ProviderContract' },
    forward: 'is covered by',
    reverse: 'covers',
  },
  {
    class: 'lnkFunctionalCIToService',
    from: { attribute: 'functionalci_id', class: 'FunctionalCI' },
    to: { attribute: 'service_id', class: 'Service' },
    forward: 'impacts',
    reverse: 'depends on',
  },
  {
    class: 'lnkConnectableCIToNetworkDevice',
    from: { attribute: 'connectableci_id', class: 'ConnectableCI' },
    to: { attribute: 'networkdevice_id', class: 'NetworkDevice' },
    forward: 'is connected to',
    reverse: 'connects',
  },
  {
    class: 'lnkGroupToCI',
    from: { attribute: 'group_id', class: 'Group' },
    to: { attribute: 'ci_id', class: 'FunctionalCI' },
    forward: 'contains',
    reverse: 'belongs to',
  },
  {
    class: 'lnkPersonToTeam',
    from: { attribute: 'person_id', class: 'Person' },
    to: { attribute: 'team_id', class: 'Team' },
    forward: 'is a member of',
    reverse: 'has the member',
  },
  {
    class: 'lnkServerToVolume',
    from: { attribute: 'server_id', class: 'Server' },
    to: { attribute: 'volume_id', class: 'LogicalVolume' },
    forward: 'uses',
    reverse: 'is used by',
  },
  {
    class: 'lnkVirtualDeviceToVolume',
    from: { attribute: 'virtualdevice_id', class: 'VirtualDevice' },
    to: { attribute: 'volume_id', class: 'LogicalVolume' },
    forward: 'uses',
    reverse: 'is used by',
  },
];

/**
 * The classes that attributes of the public data model refer to, if they have no subclasses: responses do not contain them. With the
 * class before the point where others have an attribute of the same name that leads elsewhere.
 */
export const standardTargets: Readonly<Record<string, string>> = {
  org_id: 'Organization',
  'Organization.parent_id': 'Organization',
  'Group.parent_id': 'Group',
  oslicence_id: 'OSLicence',
  softwarelicence_id: 'SoftwareLicence',
  documenttype_id: 'DocumentType',
  contracttype_id: 'ContractType',
  location_id: 'Location',
  brand_id: 'Brand',
  model_id: 'Model',
  osfamily_id: 'OSFamily',
  osversion_id: 'OSVersion',
  rack_id: 'Rack',
  enclosure_id: 'Enclosure',
  networkdevicetype_id: 'NetworkDeviceType',
  iosversion_id: 'IOSVersion',
  software_id: 'Software',
  storagesystem_id: 'StorageSystem',
  farm_id: 'Farm',
  server_id: 'Server',
  dbserver_id: 'DBServer',
  webserver_id: 'WebServer',
  middleware_id: 'Middleware',
  manager_id: 'Person',
  service_id: 'Service',
  team_id: 'Team',
  person_id: 'Person',
};
