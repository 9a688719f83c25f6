// A plugin of Swagger UI: few parameters at first, and ids of documents that exist.
"use strict";

const MOST_PARAMETERS = 12;
// Besides the members of the key, what readers need first.
const PAGING = ["offset", "limit", "pageToken", "pageSize", "totalCount", "number"];
const KEY = "x-Ed-Fi-isIdentity";
const ID = "id";
const NO_DOCUMENT = "The API shows this client no document from which to take an id.";

function parametersOfOperations({ React, getSystem }) {
  const { createElement, Fragment, useEffect, useState } = React;

  const isFirst = (parameter) => parameter.get(KEY) || PAGING.includes(parameter.get("name"));
  const valueOf = (pathMethod, parameter) =>
    getSystem().specSelectors.parameterWithMetaByIdentity(pathMethod, parameter)?.get("value");

  // The URL of the API that the user has chosen, with its variables.
  function chosenServer() {
    const { specSelectors, oas3Selectors } = getSystem();
    const server = specSelectors.specJson().getIn(["servers", 0]);
    const chosen = oas3Selectors.selectedServer() || server.get("url");
    const variable = (name) =>
      oas3Selectors.serverVariableValue(chosen, name) || server.getIn(["variables", name, "default"]);
    return new URL(chosen.replace(/\{(\w+)\}/g, (_, name) => variable(name)), location.href).href;
  }

  // The list in which documents with the id of this operation are. Operations on documents of any kind stand beside the
  // data, whose lists they have not.
  function listOf(pathMethod) {
    const { specSelectors } = getSystem();
    const list = pathMethod[0].slice(0, -`/{${ID}}`.length);
    const described = specSelectors.specJson().getIn(["paths", list, "get"]);
    const parameters = specSelectors.operationWithMeta(...pathMethod).get("parameters");
    const value = (name) => parameters.find((each) => each.get("name") === name)?.get("value") ?? "";
    const path = list.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(value(name)));
    return {
      address: `${chosenServer()}${described ? "" : "/../../data"}${path}`,
      type: described?.getIn(["responses", "200", "content"])?.keySeq().first() ?? "application/json",
    };
  }

  // The first document that the client may read: undefined if there is none, null without a token.
  async function firstDocument(pathMethod) {
    const token = getSystem().authSelectors.authorized()?.first()?.getIn(["token", "access_token"]);
    if (!token) return null;
    const { address, type } = listOf(pathMethod);
    const response = await fetch(`${address}?limit=1`, { headers: { Accept: type, Authorization: `Bearer ${token}` } });
    return response.ok ? (await response.json())[0] : undefined;
  }

  // A replacement of the document by itself, which changes nothing as it stands.
  function offerBody(pathMethod, document) {
    const members = Object.entries(document).filter(([name]) => !name.startsWith("_"));
    const value = JSON.stringify(Object.fromEntries(members), null, 2);
    getSystem().oas3Actions.setRequestBodyValue({ value, pathMethod });
  }

  // Nothing is offered for deletion.
  function wantsId({ rawParam, pathMethod: [path, method], isExecute }) {
    return isExecute && method !== "delete" && rawParam.get("name") === ID && path.endsWith(`/{${ID}}`);
  }

  const ParameterRow = (Original) => (props) => {
    const [isMissing, setIsMissing] = useState(false);
    const { pathMethod, rawParam, isExecute, onChange } = props;
    useEffect(() => {
      if (!wantsId(props) || valueOf(pathMethod, rawParam)) return;
      firstDocument(pathMethod).then((document) => {
        setIsMissing(document === undefined);
        if (!document || valueOf(pathMethod, rawParam)) return;
        onChange(rawParam, document[ID], false);
        if (pathMethod[1] === "put") offerBody(pathMethod, document);
      });
    }, [isExecute]);
    return createElement(
      Fragment,
      null,
      createElement(Original, props),
      isMissing && createElement("tr", null, createElement("td", { colSpan: 2, role: "status" }, NO_DOCUMENT)),
    );
  };

  // The members of the key and the parameters of pages come first; of more than a dozen, the others are shown on request.
  const Parameters = (Original) => (props) => {
    const [showsAll, setShowsAll] = useState(false);
    const sorted = props.parameters.sortBy((each) => (isFirst(each) ? 0 : 1));
    const shown = sorted.filter((each, position) => position < MOST_PARAMETERS || valueOf(props.pathMethod, each) !== undefined);
    const others = sorted.size - shown.size;
    return createElement(
      Fragment,
      null,
      createElement(Original, { ...props, parameters: showsAll ? sorted : shown }),
      others > 0 &&
        createElement(
          "button",
          {
            type: "button",
            className: "btn other-parameters",
            "aria-expanded": showsAll,
            onClick: () => setShowsAll(!showsAll),
          },
          showsAll ? "Fewer parameters" : `Show ${others} more parameters`,
        ),
    );
  };

  return { wrapComponents: { parameterRow: ParameterRow, parameters: Parameters } };
}
