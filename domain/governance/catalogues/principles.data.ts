import type { CataloguePrinciple } from './principles.types.ts';

/** Principles that a workspace may take over and change. The version rises with every change of a text. */
export const principlesCatalogue: { version: string; generatedAt: string; principles: CataloguePrinciple[] } =
  {
    version: '1.0.0',
    generatedAt: '2026-11-22',
    principles: [
      {
        id: 'EAP-01',
        texts: {
          en: {
            title: 'Work follows value',
            description:
              'Every change of the architecture serves an outcome that the business has asked for.',
            rationale:
              'Architecture costs time and money; both are only well spent where somebody is better off afterwards.',
            implications:
              'Each initiative names the objective that it serves and how its success is seen. Work without such an objective is stopped or not begun.',
          },
          de: {
            title: 'Arbeit folgt dem Nutzen',
            description: 'Jede Änderung der Architektur dient einem Ergebnis, das das Geschäft verlangt hat.',
            rationale:
              'Architektur kostet Zeit und Geld; beides ist nur gut angelegt, wenn es danach jemandem besser geht.',
            implications:
              'Jedes Vorhaben nennt das Ziel, dem es dient, und woran sein Erfolg zu erkennen ist. Arbeit ohne ein solches Ziel wird beendet oder nicht begonnen.',
          },
        },
      },
      {
        id: 'EAP-02',
        texts: {
          en: {
            title: 'Everything has an owner',
            description: 'For each application, interface, data object and platform one person answers.',
            rationale:
              'What belongs to nobody is neither kept up nor ended, and in an incident nobody decides.',
            implications:
              'Owners are entered before anything goes live. When somebody leaves, the ownership is handed over, not left open.',
          },
          de: {
            title: 'Alles hat einen Verantwortlichen',
            description:
              'Für jede Anwendung, Schnittstelle, jedes Datenobjekt und jede Plattform steht eine Person ein.',
            rationale:
              'Was niemandem gehört, wird weder gepflegt noch beendet, und im Störfall entscheidet niemand.',
            implications:
              'Verantwortliche sind eingetragen, bevor etwas in Betrieb geht. Scheidet jemand aus, wird die Verantwortung übergeben.',
          },
        },
      },
      {
        id: 'EAP-03',
        texts: {
          en: {
            title: 'Reuse, then buy, then build',
            description:
              'What exists is used first; what others sell is bought; only what sets us apart is built.',
            rationale:
              'Each further solution for the same need has to be paid, secured and learned for years.',
            implications:
              'A search of the inventory comes before each selection. Building needs a reason that buyers would not give.',
          },
          de: {
            title: 'Erst nutzen, dann kaufen, dann bauen',
            description:
              'Zuerst wird Vorhandenes genutzt, dann gekauft, was andere anbieten; gebaut wird nur, was uns unterscheidet.',
            rationale:
              'Jede weitere Lösung für denselben Bedarf muss über Jahre bezahlt, gesichert und erlernt werden.',
            implications:
              'Vor jeder Auswahl wird im Bestand gesucht. Eigenbau braucht einen Grund, den ein Käufer nicht hätte.',
          },
        },
      },
      {
        id: 'EAP-04',
        texts: {
          en: {
            title: 'Facts have one source',
            description: 'For each kind of fact one system leads; all others take it from there.',
            rationale: 'Copies that are kept by hand drift apart, and nobody knows which one is right.',
            implications:
              'The leading system is named for each data object. Others read it by interfaces and write only through it.',
          },
          de: {
            title: 'Fakten haben eine Quelle',
            description:
              'Für jede Art von Fakten ist ein System führend; alle anderen beziehen sie von dort.',
            rationale: 'Von Hand gepflegte Kopien laufen auseinander, und niemand weiß, welche stimmt.',
            implications:
              'Zu jedem Datenobjekt ist das führende System benannt. Andere lesen es über Schnittstellen und schreiben nur durch dieses.',
          },
        },
      },
      {
        id: 'EAP-05',
        texts: {
          en: {
            title: 'Data is open within, closed without',
            description:
              'Inside the organisation data can be found and used by whoever has a task for it; outside it is closed unless released.',
            rationale:
              'Data that is locked in applications is collected again; data that is open to all is lost.',
            implications:
              'Data objects are described, classed and offered by interfaces. Access follows the task and is withdrawn with it.',
          },
          de: {
            title: 'Daten sind innen offen, nach außen geschlossen',
            description:
              'Im Haus kann Daten finden und nutzen, wer eine Aufgabe dafür hat; nach außen sind sie geschlossen, bis sie freigegeben werden.',
            rationale:
              'In Anwendungen eingeschlossene Daten werden noch einmal erhoben; für alle offene gehen verloren.',
            implications:
              'Datenobjekte sind beschrieben, eingestuft und über Schnittstellen verfügbar. Der Zugriff folgt der Aufgabe und endet mit ihr.',
          },
        },
      },
      {
        id: 'EAP-06',
        texts: {
          en: {
            title: 'As little personal data as possible',
            description:
              'Personal data is collected for a purpose that can be named, and deleted when that is fulfilled.',
            rationale: 'Data that is not kept can be neither leaked nor asked for; the law demands no less.',
            implications:
              'Purpose, legal ground and time of deletion are part of each design. Tests do without the data of real people.',
          },
          de: {
            title: 'So wenig personenbezogene Daten wie möglich',
            description:
              'Personenbezogene Daten werden für einen benennbaren Zweck erhoben und gelöscht, wenn er erfüllt ist.',
            rationale:
              'Was nicht gespeichert ist, kann weder abfließen noch verlangt werden; das Recht fordert nichts anderes.',
            implications:
              'Zweck, Rechtsgrundlage und Löschfrist gehören zu jedem Entwurf. Tests kommen ohne Daten echter Menschen aus.',
          },
        },
      },
      {
        id: 'EAP-07',
        texts: {
          en: {
            title: 'Secure from the first sketch',
            description:
              'Protection is designed together with the function, in proportion to what is at stake.',
            rationale: 'What is added afterwards costs more and has gaps where nobody looked.',
            implications:
              'Each design states what has to be protected from whom. Rights are as narrow as the task; secrets stand in no code.',
          },
          de: {
            title: 'Sicher vom ersten Entwurf an',
            description:
              'Der Schutz wird mit der Funktion entworfen, im Verhältnis zu dem, was auf dem Spiel steht.',
            rationale: 'Was nachträglich hinzukommt, kostet mehr und hat Lücken, wo niemand hingesehen hat.',
            implications:
              'Jeder Entwurf sagt, was vor wem zu schützen ist. Rechte sind so eng wie die Aufgabe; Geheimnisse stehen in keinem Code.',
          },
        },
      },
      {
        id: 'EAP-08',
        texts: {
          en: {
            title: 'Parts can be replaced',
            description: 'Applications know of each other only what their interfaces say.',
            rationale: 'Whoever reaches into the inside of another holds it fast: neither can change alone.',
            implications:
              'There is no access to the database of another application. Interfaces are versioned, described and tested by both sides.',
          },
          de: {
            title: 'Teile sind ersetzbar',
            description: 'Anwendungen wissen voneinander nur, was ihre Schnittstellen sagen.',
            rationale:
              'Wer in das Innere eines anderen greift, hält es fest: Keiner kann sich mehr allein ändern.',
            implications:
              'Auf die Datenbank einer anderen Anwendung wird nicht zugegriffen. Schnittstellen haben Versionen, sind beschrieben und von beiden Seiten getestet.',
          },
        },
      },
      {
        id: 'EAP-09',
        texts: {
          en: {
            title: 'Interfaces are products',
            description:
              'What an application offers to others is designed for them, described, and kept stable.',
            rationale:
              'Others build on it for years; a careless change breaks what its author has never seen.',
            implications:
              'Interfaces have owners, versions and a date of ending. Changes that break are announced, and both versions run side by side.',
          },
          de: {
            title: 'Schnittstellen sind Produkte',
            description:
              'Was eine Anwendung anderen bietet, ist für diese entworfen, beschrieben und beständig.',
            rationale:
              'Andere bauen über Jahre darauf auf; eine achtlose Änderung bricht, was ihr Urheber nie gesehen hat.',
            implications:
              'Schnittstellen haben Verantwortliche, Versionen und ein Enddatum. Brechende Änderungen werden angekündigt, und beide Versionen laufen nebeneinander.',
          },
        },
      },
      {
        id: 'EAP-10',
        texts: {
          en: {
            title: 'Open standards before own formats',
            description: 'Where a widely used open standard fits, it is used as it stands.',
            rationale: 'Standards bring tools, people and a way out; own formats bring none of these.',
            implications:
              'A deviation from a standard is a decision with a reason. Contracts secure that data can be taken along in an open format.',
          },
          de: {
            title: 'Offene Standards vor eigenen Formaten',
            description: 'Wo ein verbreiteter offener Standard passt, wird er unverändert verwendet.',
            rationale:
              'Standards bringen Werkzeuge, Fachleute und einen Ausweg mit; eigene Formate nichts davon.',
            implications:
              'Eine Abweichung von einem Standard ist eine begründete Entscheidung. Verträge sichern, dass Daten in einem offenen Format mitgenommen werden können.',
          },
        },
      },
      {
        id: 'EAP-11',
        texts: {
          en: {
            title: 'Few technologies, well mastered',
            description: 'For each technical task there is a small set of agreed technologies.',
            rationale: 'Each further one needs people, patches and contracts; skill spreads thin over many.',
            implications:
              'New technologies are tried in bounds and then adopted or ended. The set is reviewed each year.',
          },
          de: {
            title: 'Wenige Technologien, gut beherrscht',
            description: 'Für jede technische Aufgabe gibt es eine kleine Auswahl vereinbarter Technologien.',
            rationale:
              'Jede weitere braucht Menschen, Aktualisierungen und Verträge; auf viele verteilt sich das Können dünn.',
            implications:
              'Neue Technologien werden begrenzt erprobt und dann übernommen oder beendet. Die Auswahl wird jährlich überprüft.',
          },
        },
      },
      {
        id: 'EAP-12',
        texts: {
          en: {
            title: 'Nothing runs past its support',
            description: 'Every component in use is supported by somebody who mends faults and closes gaps.',
            rationale: 'A gap that nobody closes stays open for everyone who finds it.',
            implications:
              'The end of support is known for each component, and its replacement planned two years before. Exceptions are risks with an owner.',
          },
          de: {
            title: 'Nichts läuft über seine Unterstützung hinaus',
            description:
              'Jede eingesetzte Komponente wird von jemandem unterstützt, der Fehler behebt und Lücken schließt.',
            rationale: 'Eine Lücke, die niemand schließt, steht jedem offen, der sie findet.',
            implications:
              'Das Ende der Unterstützung ist für jede Komponente bekannt und ihr Ersatz zwei Jahre zuvor geplant. Ausnahmen sind Risiken mit Verantwortlichen.',
          },
        },
      },
      {
        id: 'EAP-13',
        texts: {
          en: {
            title: 'Replacing includes switching off',
            description: 'A project is done when what it replaces has been switched off.',
            rationale: 'The savings that justified the new are earned by ending the old.',
            implications:
              'Ending is part of plan and budget: data, interfaces, contracts and rights. Running both for long needs a decision.',
          },
          de: {
            title: 'Ablösen heißt abschalten',
            description: 'Ein Projekt ist fertig, wenn abgeschaltet ist, was es ablöst.',
            rationale: 'Die Ersparnis, die das Neue begründet hat, entsteht durch das Ende des Alten.',
            implications:
              'Das Abschalten gehört zu Plan und Budget: Daten, Schnittstellen, Verträge und Rechte. Längerer Parallelbetrieb braucht eine Entscheidung.',
          },
        },
      },
      {
        id: 'EAP-14',
        texts: {
          en: {
            title: 'Faults are expected',
            description: 'Applications go on, or come back by themselves, when a part fails.',
            rationale: 'Every part fails at some time; how far the damage goes is a matter of design.',
            implications:
              'Recovery time and tolerable loss are agreed with the business and proved in exercises. A backup counts once it has been restored.',
          },
          de: {
            title: 'Mit Fehlern wird gerechnet',
            description: 'Anwendungen laufen weiter oder kehren von selbst zurück, wenn ein Teil ausfällt.',
            rationale:
              'Jeder Teil fällt irgendwann aus; wie weit der Schaden reicht, ist eine Frage des Entwurfs.',
            implications:
              'Wiederherstellungszeit und hinnehmbarer Verlust sind mit dem Geschäft vereinbart und in Übungen belegt. Eine Sicherung zählt, wenn sie zurückgespielt wurde.',
          },
        },
      },
      {
        id: 'EAP-15',
        texts: {
          en: {
            title: 'What runs can be observed',
            description: 'Each application tells whether it works, how fast, and what it did.',
            rationale: 'Without figures, faults are found by customers and improvements by chance.',
            implications:
              'Logs, measures and traces are part of the design and agreed in form. Alarms go to somebody who can act.',
          },
          de: {
            title: 'Was läuft, ist beobachtbar',
            description: 'Jede Anwendung sagt, ob sie arbeitet, wie schnell, und was sie getan hat.',
            rationale: 'Ohne Zahlen finden Kunden die Fehler und der Zufall die Verbesserungen.',
            implications:
              'Protokolle, Messwerte und Spuren gehören zum Entwurf und haben eine vereinbarte Form. Alarme gehen an jemanden, der handeln kann.',
          },
        },
      },
      {
        id: 'EAP-16',
        texts: {
          en: {
            title: 'Changes are small and automatic',
            description:
              'Software and infrastructure are built, tested and rolled out by machines, in small steps.',
            rationale:
              'Small changes are understood, tested and taken back easily; work by hand is forgotten or done differently each time.',
            implications:
              'The description of an environment stands under version control. Whatever is done twice by hand is automated.',
          },
          de: {
            title: 'Änderungen sind klein und automatisch',
            description:
              'Software und Infrastruktur werden von Maschinen gebaut, getestet und ausgerollt, in kleinen Schritten.',
            rationale:
              'Kleine Änderungen lassen sich verstehen, testen und zurücknehmen; Handarbeit wird vergessen oder jedes Mal anders getan.',
            implications:
              'Die Beschreibung einer Umgebung steht unter Versionsverwaltung. Was zweimal von Hand getan wird, wird automatisiert.',
          },
        },
      },
      {
        id: 'EAP-17',
        texts: {
          en: {
            title: 'Hosted elsewhere, with a way back',
            description:
              'Services of others are used where they fit, and can be left within a known time and at a known cost.',
            rationale: 'Who cannot leave pays any price and follows any change.',
            implications:
              'Each contract has a tested way out. The place of data and the law over it are part of the selection.',
          },
          de: {
            title: 'Fremdbetrieb mit Rückweg',
            description:
              'Dienste anderer werden genutzt, wo sie passen, und können in bekannter Zeit zu bekannten Kosten verlassen werden.',
            rationale: 'Wer nicht gehen kann, zahlt jeden Preis und folgt jeder Änderung.',
            implications:
              'Jeder Vertrag hat einen geprüften Ausstieg. Ort der Daten und anwendbares Recht gehören zur Auswahl.',
          },
        },
      },
      {
        id: 'EAP-18',
        texts: {
          en: {
            title: 'Decisions look at the whole cost',
            description: 'Alternatives are compared by all that they cost until they are switched off.',
            rationale: 'The purchase is the smaller part; operation, changes and ending are the larger.',
            implications:
              'Comparisons cover at least five years, with people, licences, operation, integration and ending. Costs are kept with each application.',
          },
          de: {
            title: 'Entscheidungen sehen die gesamten Kosten',
            description: 'Alternativen werden nach allem verglichen, was sie bis zum Abschalten kosten.',
            rationale:
              'Die Anschaffung ist der kleinere Teil; Betrieb, Änderungen und Ende sind der größere.',
            implications:
              'Vergleiche umfassen mindestens fünf Jahre mit Personal, Lizenzen, Betrieb, Integration und Ende. Kosten werden je Anwendung geführt.',
          },
        },
      },
      {
        id: 'EAP-19',
        texts: {
          en: {
            title: 'Decisions are written down',
            description:
              'What shapes the architecture for long is recorded with its context, alternatives and consequences.',
            rationale: 'Later nobody knows why; then the decision is repeated, or undone by mistake.',
            implications:
              'Each such decision is a record, signed by those who answer for it and linked to what it is about. A new one replaces it and says so.',
          },
          de: {
            title: 'Entscheidungen werden festgehalten',
            description:
              'Was die Architektur auf lange Zeit prägt, wird mit Anlass, Alternativen und Folgen festgehalten.',
            rationale:
              'Später weiß niemand mehr, warum; dann wird neu entschieden oder aus Versehen das Gegenteil getan.',
            implications:
              'Jede solche Entscheidung ist ein Dokument, gezeichnet von denen, die dafür einstehen, und verknüpft mit dem, worum es geht. Eine neue löst sie ausdrücklich ab.',
          },
        },
      },
      {
        id: 'EAP-20',
        texts: {
          en: {
            title: 'Usable by everybody',
            description:
              'Applications can be used by all whose work they serve, whatever their abilities and devices.',
            rationale: 'Who is shut out cannot do his work, and finds a way past the application.',
            implications:
              'Accessibility by an agreed standard is tested before release. Users are watched at work, not only asked.',
          },
          de: {
            title: 'Nutzbar für alle',
            description:
              'Anwendungen können von allen benutzt werden, deren Arbeit sie dienen, gleich mit welchen Fähigkeiten und Geräten.',
            rationale:
              'Wer ausgeschlossen ist, kann seine Arbeit nicht tun und findet einen Weg an der Anwendung vorbei.',
            implications:
              'Barrierefreiheit nach einem vereinbarten Standard wird vor der Freigabe geprüft. Nutzer werden bei der Arbeit beobachtet, nicht nur befragt.',
          },
        },
      },
    ],
  };
