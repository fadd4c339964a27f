// An informer of client-go over one resource. Each line on standard input is answered with its store and its counts, as one line of JSON.
//
//	KUBECONFIG=… KUBE_FEATURE_WatchListClient=true go-informer GROUP VERSION RESOURCE
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Requests by what they ask for, and the answers that say 410.
type counts struct {
	Lists, WatchLists, Watches, Expired atomic.Int64
}

type countingTransport struct {
	inner  http.RoundTripper
	counts *counts
}

func (transport countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	switch {
	case query.Get("sendInitialEvents") == "true":
		transport.counts.WatchLists.Add(1)
	case query.Get("watch") == "true":
		transport.counts.Watches.Add(1)
	default:
		transport.counts.Lists.Add(1)
	}
	response, err := transport.inner.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusGone {
		transport.counts.Expired.Add(1)
	}
	return response, err
}

type state struct {
	Items      []any  `json:"items"`
	Version    string `json:"version"`
	Synced     bool   `json:"synced"`
	Lists      int64  `json:"lists"`
	WatchLists int64  `json:"watchLists"`
	Watches    int64  `json:"watches"`
	Expired    int64  `json:"expired"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("GROUP VERSION RESOURCE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	var counted counts
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return countingTransport{inner, &counted} })
	// Each round of a test waits for the informers, so they may not wait for a limit of their own.
	config.QPS, config.Burst = 1000, 1000
	client, err := dynamic.NewForConfig(rest.CopyConfig(config))
	if err != nil {
		return err
	}
	resource := schema.GroupVersionResource{Group: args[0], Version: args[1], Resource: args[2]}
	informer := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	go informer.RunWithContext(context.Background())
	output := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		items := []any{}
		for _, item := range informer.GetStore().List() {
			items = append(items, item.(*unstructured.Unstructured).Object)
		}
		err := output.Encode(state{
			Items:      items,
			Version:    informer.LastSyncResourceVersion(),
			Synced:     informer.HasSynced(),
			Lists:      counted.Lists.Load(),
			WatchLists: counted.WatchLists.Load(),
			Watches:    counted.Watches.Load(),
			Expired:    counted.Expired.Load(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
