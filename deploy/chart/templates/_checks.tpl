{{- /* Values that contradict each other: the installation would start and fail, or be open to everybody. */ -}}
{{- define "portolan.checks" -}}
{{- $config := .Values.config -}}
{{- $auth := default list $config.auth -}}
{{- $callers := without $auth "none" -}}
{{- $loopback := list "127.0.0.1" "::1" "localhost" -}}
{{- if and (not $auth) (not (has $config.host $loopback)) -}}
{{-   fail "config.auth is empty, and Portolan then listens on loopback only: set config.auth to [token], or to [none] to let everybody see everything." -}}
{{- end -}}
{{- if and $auth (has $config.host $loopback) -}}
{{-   fail "config.host is an address of loopback, which neither the Service nor the probes reach: leave it out." -}}
{{- end -}}
{{- if and $callers (has "none" $auth) }}{{ fail "config.auth none stands alone: leave it out, or the other kinds." }}{{ end -}}
{{- if and (or (has "certificate" $auth) (has "proxy" $auth)) (not .Values.tls.secret) -}}
{{-   fail "config.auth certificate and proxy need TLS of the gateway: set tls.secret." -}}
{{- end -}}
{{- if ne (has "certificate" $auth) (not (empty .Values.tls.clientCa.secret)) }}{{ fail "config.auth certificate and tls.clientCa.secret need each other." }}{{ end -}}
{{- if ne (has "proxy" $auth) (not (empty .Values.tls.proxyClientCa.secret)) }}{{ fail "config.auth proxy and tls.proxyClientCa.secret need each other." }}{{ end -}}
{{- if and (eq $config.secretData "live") (not $callers) }}{{ fail "config.secretData live needs callers with credentials: set config.auth." }}{{ end -}}
{{- $impersonates := or (eq $config.impersonate "classic") (eq $config.impersonate "constrained") -}}
{{- if and $impersonates (not $callers) }}{{ fail "config.impersonate needs callers with credentials: set config.auth." }}{{ end -}}
{{- if and (eq $config.secretData "live") $callers (not (has "token" $callers)) (not $impersonates) -}}
{{-   fail "config.secretData live sends requests in the name of callers who have no token: set config.impersonate to constrained, or to classic for API servers before 1.36." -}}
{{- end -}}
{{- if and (eq (toString $config.readOnly) "false") (not $callers) }}{{ fail "config.readOnly false needs to know who writes: set config.auth." }}{{ end -}}
{{- if and $config.context (not .Values.kubeconfig.secret) }}{{ fail "config.context names contexts of a kubeconfig: set kubeconfig.secret." }}{{ end -}}
{{- if and $callers (gt (len (default list $config.context)) 1) (not $config.authCluster) -}}
{{-   fail "config.context names several clusters: set config.authCluster to the one that knows the callers." -}}
{{- end -}}
{{- $secret := dict "plural" "secrets" "group" "" "kind" "Secret" -}}
{{- range $config.kinds -}}
{{-   if and (not (contains "*" .)) (include "portolan.isNamed" (list $secret .)) $.Values.rbac.create (not $.Values.rbac.secrets) (not $.Values.rbac.rules) -}}
{{-     fail "config.kinds names Secrets, which the account may not read: set rbac.secrets." -}}
{{-   end -}}
{{- end -}}
{{- with .Values.rbac -}}
{{-   if and .wildcards (or $config.kinds $config.exclude) -}}
{{-     fail "rbac.wildcards grants every kind, and RBAC cannot leave some out: leave out rbac.wildcards, or config.kinds and config.exclude." -}}
{{-   end -}}
{{-   if and .rules (or .wildcards .secrets .customResources.groups) -}}
{{-     fail "rbac.rules replaces all other rules: leave out rbac.wildcards, rbac.secrets and rbac.customResources.groups." -}}
{{-   end -}}
{{-   if and .rules $config.namespaces -}}
{{-     fail "rbac.rules is one ClusterRole, and config.namespaces needs Roles: set rbac.create to false and apply what portolan rbac --namespaces prints." -}}
{{-   end -}}
{{- end -}}
{{- with .Values.aggregate -}}
{{-   if .enabled -}}
{{-     if not $callers }}{{ fail "aggregate shows each caller what the rights of the caller allow: set config.auth." }}{{ end -}}
{{-     if $.Values.kubeconfig.secret }}{{ fail "aggregate serves the cluster of the release with an account of its own: leave out kubeconfig.secret, or aggregate." }}{{ end -}}
{{-     if and $.Values.rbac.rules (not (regexMatch "shadowrecords|\\*" (toJson $.Values.rbac.rules))) }}{{ fail "aggregate reads ShadowRecords: add list and watch of shadowrecords in portolan.dev to rbac.rules." }}{{ end -}}
{{-     $records := dict "group" "portolan.dev" "plural" "shadowrecords" "kind" "ShadowRecord" -}}
{{-     if not (include "portolan.selects" (list $records (dict "exclude" $config.exclude))) }}{{ fail "aggregate reads ShadowRecords: leave them out of config.exclude." }}{{ end -}}
{{-     with .certificates -}}
{{-       if ne (eq .from "secret") (not (empty .secret)) }}{{ fail "aggregate.certificates.from secret and aggregate.certificates.secret need each other." }}{{ end -}}
{{-       if and .caBundle (ne .from "secret") }}{{ fail "aggregate.certificates.caBundle is for aggregate.certificates.from secret: others set it themselves." }}{{ end -}}
{{-       if and .issuerRef (ne .from "certManager") }}{{ fail "aggregate.certificates.issuerRef is for aggregate.certificates.from certManager." }}{{ end -}}
{{-     end -}}
{{-     if and (eq .policy.records "anybody") (or .policy.recordWriters.users .policy.recordWriters.groups) -}}
{{-       fail "aggregate.policy.recordWriters names who may write ShadowRecords: set aggregate.policy.records to named." -}}
{{-     end -}}
{{-   end -}}
{{- end -}}
{{- with .Values.podDisruptionBudget -}}
{{-   if and (ne (toString .minAvailable) "") (ne (toString .maxUnavailable) "") }}{{ fail "podDisruptionBudget takes minAvailable or maxUnavailable, not both." }}{{ end -}}
{{- end -}}
{{- with .Values.autoscaling -}}
{{-   if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}{{ fail "autoscaling.minReplicas is larger than autoscaling.maxReplicas." }}{{ end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{-   fail "ingress has no host names: set ingress.hosts, or set it to [\"\"] to take the requests of every host." -}}
{{- end -}}
{{- /* Every API server with aggregation has this group, and helm template without a cluster has not: there nothing is known. */ -}}
{{- if and (.Capabilities.APIVersions.Has "apiregistration.k8s.io/v1") (not (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) -}}
{{-   range $name := list "serviceMonitor" "prometheusRule" -}}
{{-     if (get $.Values $name).enabled -}}
{{-       printf "%s needs the Prometheus operator, and the cluster lacks its API monitoring.coreos.com/v1: install its CustomResourceDefinitions first, or set %s.enabled to false." $name $name | fail -}}
{{-     end -}}
{{-   end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}{{ fail "httpRoute needs a Gateway: set httpRoute.parentRefs." }}{{ end -}}
{{- if $config.maxDisk -}}
{{-   if ge (include "portolan.mebibytes" $config.maxDisk | int64) (include "portolan.mebibytes" .Values.data.size | int64) -}}
{{-     printf "config.maxDisk (%s) must be smaller than data.size (%s): a full volume ends the Pod." $config.maxDisk .Values.data.size | fail -}}
{{-   end -}}
{{- end -}}
{{- $end := add .Values.preStopSeconds (include "portolan.seconds" (default "0s" $config.drain) | int) 5 -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int $end) -}}
{{-   printf "terminationGracePeriodSeconds must be at least %d: preStopSeconds, config.drain and 5 seconds to end." (int $end) | fail -}}
{{- end -}}
{{- end -}}

{{- define "portolan.mebibytes" -}}
{{- $units := dict "M" 1 "G" 1024 "T" 1048576 -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[MGT]" .)) -}}
{{- end -}}

{{- define "portolan.seconds" -}}
{{- $milliseconds := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- div (add 999 (mul (regexFind "^[0-9]+" . | int64) (get $milliseconds (regexFind "[a-z]+" .)))) 1000 -}}
{{- end -}}
